"""Configurations of the demo's proxies, as a user would write them."""

RETRY_POLICY = """
        retry_policy:
          retry_on: retriable-status-codes
          retriable_status_codes: [503]
          num_retries: 2
          per_try_timeout: 1s
          retry_back_off: {{ base_interval: {base_interval} }}"""


def retry_policy(base_interval="1ms"):
    return RETRY_POLICY.format(base_interval=base_interval)


def hop(port, admin_port, cluster, upstream_ports, retries="", layer="", budget=""):
    """One proxy on loopback: everything that comes to `port` goes to `cluster`, whose hosts are `upstream_ports`.

    retries: the text of retry_policy(); layer: a role, or nothing for the default; budget: the text of a retry_budget.
    """
    endpoints = ", ".join(f"127.0.0.1:{p}" for p in upstream_ports)
    role = f"\n        layer: {{ role: {layer} }}" if layer else ""
    thresholds = f"\n  circuit_breakers: {{ thresholds: [ {{ retry_budget: {budget} }} ] }}" if budget else ""
    return f"""\
admin: {{ address: 127.0.0.1:{admin_port} }}
listeners:
- name: outbound
  direction: outbound
  address: 127.0.0.1:{port}
  routes:
    - match: {{ prefix: / }}
      route:
        cluster: {cluster}{role}{retries}
clusters:
- name: {cluster}
  endpoints: [{endpoints}]{thresholds}
"""
