package main

import (
	"flag"
	"fmt"
	"net"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/interop"
	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/keepalive"
)

// serve is grpc-go's interop server but for its address, which is loopback only, and the age of its connections.
func serve(flags *flag.FlagSet, arguments []string) error {
	port := flags.Int("port", 0, "port on 127.0.0.1")
	cert := flags.String("cert", "", "PEM file of the server's certificate; empty: no TLS")
	key := flags.String("key", "", "PEM file of its key")
	maxAge := flags.Duration("max-age", 0, "ends connections after so long, with GOAWAY and a grace of 5 s; 0: never")
	flags.Parse(arguments)

	options := []grpc.ServerOption{grpc.KeepaliveParams(
		keepalive.ServerParameters{MaxConnectionAge: *maxAge, MaxConnectionAgeGrace: 5 * time.Second})}
	if *cert != "" {
		security, err := credentials.NewServerTLSFromFile(*cert, *key)
		if err != nil {
			return err
		}
		options = append(options, grpc.Creds(security))
	}
	listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", *port))
	if err != nil {
		return err
	}
	server := grpc.NewServer(options...)
	testgrpc.RegisterTestServiceServer(server, interop.NewTestServer())
	return server.Serve(listener)
}
