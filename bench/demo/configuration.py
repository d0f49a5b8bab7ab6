"""Configurations of the demo's proxies, as a user would write them."""

RETRY_POLICY = """
        retry_policy:
          retry_on: {retry_on}
          retriable_status_codes: [{statuses}]
          num_retries: {num_retries}
          per_try_timeout: {per_try_timeout}
          retry_back_off: {{ base_interval: {base_interval} }}"""

NO_BUDGET = "retry_budget: { disabled: true }"


def retry_policy(base_interval="1ms", num_retries=2, per_try_timeout="1s", retry_on="retriable-status-codes",
                 statuses="503"):
    return RETRY_POLICY.format(base_interval=base_interval, num_retries=num_retries, per_try_timeout=per_try_timeout,
                               retry_on=retry_on, statuses=statuses)


def listener(direction, port, cluster, retries="", layer="", timeout="", filters="", name=""):
    """Everything that comes to `port` goes to `cluster`.

    retries: the text of retry_policy(); layer: a role, or nothing for the default; filters: their list; name: if there
    are several of a direction.
    """
    filters = f"\n  filters: [ {filters} ]" if filters else ""
    timeout = f"\n        timeout: {timeout}" if timeout else ""
    role = f"\n        layer: {{ role: {layer} }}" if layer else ""
    return f"""\
- name: {name or direction}
  direction: {direction}
  address: 127.0.0.1:{port}{filters}
  routes:
    - match: {{ prefix: / }}
      route:
        cluster: {cluster}{timeout}{role}{retries}
"""


def cluster(name, upstream_ports, thresholds=""):
    """A cluster on loopback. thresholds: its settings, a retry budget among them."""
    endpoints = ", ".join(f"127.0.0.1:{p}" for p in upstream_ports)
    limits = f"\n  circuit_breakers: {{ thresholds: [ {{ {thresholds} }} ] }}" if thresholds else ""
    return f"""\
- name: {name}
  endpoints: [{endpoints}]{limits}
"""


def proxy(admin_port, listeners, clusters, node=""):
    identity = f"node: {{ id: {node}, cluster: demo }}\n" if node else ""
    return (f"{identity}admin: {{ address: 127.0.0.1:{admin_port} }}\n"
            f"listeners:\n{''.join(listeners)}clusters:\n{''.join(clusters)}")


def hop(port, admin_port, name, upstream_ports, retries="", layer="", thresholds="", timeout="",
        direction="outbound", filters=""):
    """A proxy of one listener and one cluster."""
    return proxy(admin_port, [listener(direction, port, name, retries, layer, timeout, filters)],
                 [cluster(name, upstream_ports, thresholds)])


def sidecar(node, admin_port, inbound_port, application_port, outbound_port="", next_port="", retries="", layer="",
            thresholds="", timeout="", inbound_filters="", outbound_filters=""):
    """The proxy of one application: one way in, and one way out if there is an outbound port."""
    listeners = [listener("inbound", inbound_port, "app", layer=layer, filters=inbound_filters)]
    clusters = [cluster("app", [application_port])]
    if outbound_port:
        listeners.append(listener("outbound", outbound_port, "next", retries, layer, timeout, outbound_filters))
        clusters.append(cluster("next", [next_port], thresholds))
    return proxy(admin_port, listeners, clusters, node)
