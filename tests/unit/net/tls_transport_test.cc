// Two transports talk over a socket pair: a server's and a client's.
#include "net/tls_transport.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include "net/socket.h"
#include "net/tls_context.h"
#include "tests/support/certificates.h"
#include "tests/support/tls.h"

namespace damper::net {
namespace {

using Next = Progress::Next;
using config::TlsVersion;
using tests::TlsPair;

TEST(TlsTransport, ShakesHandsInBothVersions) {
  for (const auto& [version, name] :
       {std::pair(TlsVersion::kTls12, "TLSv1.2"), std::pair(TlsVersion::kTls13, "TLSv1.3")}) {
    TlsPair pair;
    pair.client_settings.common.min_version = pair.client_settings.common.max_version = version;
    pair.client_settings.sni = "a.test";
    ASSERT_TRUE(pair.connect());
    ASSERT_TRUE(pair.server->tls());
    EXPECT_EQ(pair.server->tls()->version, name);
    EXPECT_EQ(pair.client->tls()->version, name);
    EXPECT_EQ(pair.server->tls()->server_name, "a.test");
    EXPECT_EQ(pair.client->tls()->peer_subject, "CN=server");
    EXPECT_EQ(pair.server->tls()->local_subject, "CN=server");
    EXPECT_EQ(pair.server->tls()->local_dns_sans, pair.client->tls()->peer_dns_sans);
    EXPECT_EQ(pair.client->tls()->local_subject, "");
    EXPECT_FALSE(pair.client->tls()->resumed);
    EXPECT_EQ(pair.server_count(TlsCounts::kHandshake), 1u);
  }
}

TEST(TlsTransport, RefusesAVersionThatIsNotAllowed) {
  TlsPair pair;
  pair.server_settings.common.min_version = TlsVersion::kTls13;
  pair.client_settings.common.max_version = TlsVersion::kTls12;
  EXPECT_FALSE(pair.connect());
  EXPECT_EQ(pair.client_error().code, Errc::kRefused);
  EXPECT_TRUE(pair.client_error().detail.starts_with("TLS_error:|")) << pair.client_error().detail;
}

TEST(TlsTransport, AgreesOnTheFirstOfTheServersProtocolsThatTheClientOffers) {
  struct Case {
    std::vector<std::string> server, client;
    std::string chosen;
  };
  for (const Case& c : {Case{{"h2", "http/1.1"}, {"http/1.1", "h2"}, "h2"},
                        Case{{"http/1.1", "h2"}, {"h2", "http/1.1"}, "http/1.1"},
                        Case{{"h2", "http/1.1"}, {"http/1.1"}, "http/1.1"},
                        Case{{"h2"}, {"http/1.1"}, ""}, Case{{}, {"http/1.1"}, ""}}) {
    TlsPair pair;
    pair.server_settings.common.alpn = c.server;
    pair.client_settings.common.alpn = c.client;
    ASSERT_TRUE(pair.connect());
    EXPECT_EQ(pair.server->alpn(), c.chosen);
    EXPECT_EQ(pair.client->alpn(), c.chosen);
  }
}

TEST(TlsTransport, CarriesMuchThroughSmallSocketBuffersInBothDirections) {
  TlsPair pair(8 * 1024);
  ASSERT_TRUE(pair.connect());
  std::string data(3'000'000, 'x');
  for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<char>('a' + i % 23);
  for (const bool upwards : {true, false}) {
    EXPECT_EQ(pair.carry(data, upwards), data);
  }
}

TEST(TlsTransport, PutsSmallPiecesIntoOneRecord) {
  TlsPair pair;
  ASSERT_TRUE(pair.connect());
  Buffer out;
  for (int i = 0; i < 10; ++i) {
    Buffer piece;
    piece.append(std::string(1000, static_cast<char>('0' + i)));
    out.take_from(piece, 1000);
  }
  const auto progress = pair.client->write(pair.client_fd(), out);
  ASSERT_TRUE(progress);
  EXPECT_EQ(progress->bytes, 10'000u);
  EXPECT_TRUE(out.empty());
}

// The space may be smaller than a record, and of what OpenSSL holds the socket says nothing.
TEST(TlsTransport, SaysThatItHasMoreThanTheSpaceTook) {
  TlsPair pair;
  ASSERT_TRUE(pair.connect());
  pair.send("0123456789");
  char bytes[4];
  std::string got;
  for (const bool more : {true, true, false}) {
    const auto progress = pair.server->read(pair.server_fd(), bytes, sizeof bytes);
    ASSERT_TRUE(progress);
    got.append(bytes, progress->bytes);
    EXPECT_EQ(pair.server->has_buffered(), more) << got;
  }
  EXPECT_EQ(got, "0123456789");
}

TEST(TlsTransport, TakesSeveralRecordsWithOneRead) {
  TlsPair pair;
  ASSERT_TRUE(pair.connect());
  for (const char* text : {"one ", "two ", "three"}) pair.send(text);
  EXPECT_EQ(pair.read_once(), "one two three");
  EXPECT_FALSE(pair.server->has_buffered());
}

TEST(TlsTransport, TellsAnEndFromATruncation) {
  {
    TlsPair pair;
    ASSERT_TRUE(pair.connect());
    pair.send("all of it");
    pair.client->shutdown(pair.client_fd());
    EXPECT_EQ(pair.read_once(), "all of it");
    char byte = 0;
    const auto end = pair.server->read(pair.server_fd(), &byte, 1);
    ASSERT_TRUE(end);
    EXPECT_EQ(end->next, Next::kEof);
  }
  TlsPair pair;
  ASSERT_TRUE(pair.connect());
  pair.send("a part");
  ::shutdown(pair.client_fd(), SHUT_WR);
  EXPECT_EQ(pair.read_once(), "a part");
  char byte = 0;
  const auto end = pair.server->read(pair.server_fd(), &byte, 1);
  ASSERT_FALSE(end);
  EXPECT_EQ(end.error().code, Errc::kReset);
  EXPECT_NE(end.error().detail.find("truncated"), std::string::npos);
}

TEST(TlsTransport, WhatIsNoTlsIsRefusedWithAReason) {
  TlsPair pair;
  ASSERT_TRUE(pair.prepare());
  ASSERT_EQ(::write(pair.client_fd(), "GET / HTTP/1.1\r\n\r\n", 18), 18);
  const auto progress = pair.server->handshake(pair.server_fd());
  ASSERT_FALSE(progress);
  EXPECT_EQ(progress.error().side, Side::kDownstream);
  EXPECT_NE(progress.error().detail.find("HTTP_REQUEST"), std::string::npos)
      << progress.error().detail;
  EXPECT_EQ(pair.server_count(TlsCounts::kConnectionError), 1u);
}

TEST(TlsTransport, WhoLeavesInTheHandshakeIsNoTlsError) {
  TlsPair pair;
  ASSERT_TRUE(pair.prepare());
  ::shutdown(pair.client_fd(), SHUT_WR);
  EXPECT_FALSE(pair.server->handshake(pair.server_fd()));
  EXPECT_EQ(pair.server_count(TlsCounts::kConnectionError), 0u);
}

TEST(TlsTransport, ResumesASessionOfTheSameName) {
  for (const TlsVersion version : {TlsVersion::kTls12, TlsVersion::kTls13}) {
    TlsPair pair;
    pair.client_settings.common.max_version = version;
    pair.client_settings.sni_from_endpoint = true;
    ASSERT_TRUE(pair.connect("a.test"));
    pair.exchange();  // the tickets of TLS 1.3 come behind the handshake
    ASSERT_TRUE(pair.reconnect("a.test"));
    EXPECT_TRUE(pair.client->tls()->resumed);
    EXPECT_TRUE(pair.server->tls()->resumed);
    EXPECT_EQ(pair.server_count(TlsCounts::kSessionReused), 1u);
    pair.exchange();
    ASSERT_TRUE(pair.reconnect("b.test"));
    EXPECT_FALSE(pair.client->tls()->resumed);
  }
}

TEST(TlsTransport, ResumesNothingWhereThatIsOff) {
  TlsPair pair;
  pair.server_settings.tickets = pair.server_settings.session_cache = false;
  ASSERT_TRUE(pair.connect());
  pair.exchange();
  ASSERT_TRUE(pair.reconnect());
  EXPECT_FALSE(pair.client->tls()->resumed);
}

TEST(TlsTransport, ResumesFromTheServersCacheWithoutTickets) {
  TlsPair pair;
  pair.server_settings.tickets = false;
  ASSERT_TRUE(pair.connect());
  pair.exchange();
  ASSERT_TRUE(pair.reconnect());
  EXPECT_TRUE(pair.client->tls()->resumed);
}

}  // namespace
}  // namespace damper::net
