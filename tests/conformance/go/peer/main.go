// The gRPC peers of the conformance tests, on loopback only:
//
//	peer serve   grpc-go's interop service
//	peer load    many calls at a time; what became of them, as JSON on standard output
//	peer stream  one long stream; how many bytes arrived, as JSON on standard output
//
// `peer COMMAND -h` has the flags.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
)

func main() {
	commands := map[string]func(*flag.FlagSet, []string) error{"serve": serve, "load": load, "stream": stream}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		log.Fatal("usage: peer serve|load|stream FLAGS")
	}
	name := os.Args[1]
	if err := commands[name](flag.NewFlagSet(name, flag.ExitOnError), os.Args[2:]); err != nil {
		log.Fatalf("%s: %v", name, err)
	}
}

// target is where a client calls: its flags, and the connection that they ask for.
type target struct {
	port      *int
	ca        *string
	keepAlive *time.Duration
}

func targetFlags(flags *flag.FlagSet) target {
	return target{
		port:      flags.Int("port", 0, "port on 127.0.0.1"),
		ca:        flags.String("ca", "", "PEM file of the authority that the server's certificate must be of; empty: no TLS"),
		keepAlive: flags.Duration("keep-alive", 0, "sends a PING after so long without a frame (10s at least); 0: never"),
	}
}

func (t target) dial() (*grpc.ClientConn, error) {
	if *t.port == 0 {
		return nil, errors.New("-port is missing")
	}
	security := insecure.NewCredentials()
	if *t.ca != "" {
		var err error
		if security, err = credentials.NewClientTLSFromFile(*t.ca, "localhost"); err != nil {
			return nil, err
		}
	}
	options := []grpc.DialOption{grpc.WithTransportCredentials(security)}
	if *t.keepAlive > 0 {
		options = append(options, grpc.WithKeepaliveParams(
			keepalive.ClientParameters{Time: *t.keepAlive, Timeout: 2 * time.Second, PermitWithoutStream: true}))
	}
	return grpc.NewClient(fmt.Sprintf("127.0.0.1:%d", *t.port), options...)
}

func printJSON(value any) error {
	return json.NewEncoder(os.Stdout).Encode(value)
}
