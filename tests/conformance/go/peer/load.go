package main

import (
	"context"
	"flag"
	"fmt"
	"sync"
	"time"

	testgrpc "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"
)

// result says what became of the calls.
type result struct {
	Codes  map[string]int `json:"codes"`            // name of the status → calls
	Errors map[string]int `json:"errors,omitempty"` // whole text of a status but OK and Canceled → calls
}

func (r *result) add(err error) {
	code := status.Code(err).String()
	r.Codes[code]++
	if code != "OK" && code != "Canceled" {
		r.Errors[fmt.Sprint(err)]++
	}
}

// call makes one call; the client leaves it early if `leave`.
type call func(client testgrpc.TestServiceClient, leave bool) error

// unary leaves after 1 ms, which may be before, during or after the answer.
func unary(client testgrpc.TestServiceClient, leave bool) error {
	timeout := 30 * time.Second
	if leave {
		timeout = time.Millisecond
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	defer time.AfterFunc(timeout, cancel).Stop()
	_, err := client.UnaryCall(ctx, &testgrpc.SimpleRequest{ResponseSize: 100, Payload: &testgrpc.Payload{Body: make([]byte, 100)}})
	return err
}

// openStream leaves after the first of two responses, while the server waits for more requests.
func openStream(client testgrpc.TestServiceClient, leave bool) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stream, err := client.FullDuplexCall(ctx)
	if err != nil {
		return err
	}
	request := &testgrpc.StreamingOutputCallRequest{
		ResponseParameters: []*testgrpc.ResponseParameters{{Size: 1000}}, Payload: &testgrpc.Payload{Body: make([]byte, 1000)}}
	if err := stream.Send(request); err != nil {
		return err
	}
	if _, err := stream.Recv(); err != nil {
		return err
	}
	if leave {
		cancel()
		_, err := stream.Recv()
		return err
	}
	return stream.CloseSend()
}

func load(flags *flag.FlagSet, arguments []string) error {
	to := targetFlags(flags)
	kind := flags.String("kind", "unary", "unary or stream")
	calls := flags.Int("calls", 1000, "how many in all")
	workers := flags.Int("workers", 50, "how many at a time")
	connections := flags.Int("connections", 1, "over how many connections")
	rate := flags.Int("rate", 0, "calls per second; 0: as fast as answers come")
	leaveEvery := flags.Int("leave-every", 0, "the client leaves every so many-th call early; 0: none")
	flags.Parse(arguments)

	var clients []testgrpc.TestServiceClient
	for range *connections {
		connection, err := to.dial()
		if err != nil {
			return err
		}
		defer connection.Close()
		clients = append(clients, testgrpc.NewTestServiceClient(connection))
	}
	one := map[string]call{"unary": unary, "stream": openStream}[*kind]
	if one == nil {
		return fmt.Errorf("no kind %q", *kind)
	}
	return printJSON(run(clients, one, *workers, numbers(*calls, *rate), *leaveEvery))
}

// numbers sends 0 to calls-1, at the rate if there is one.
func numbers(calls, rate int) <-chan int {
	out := make(chan int)
	go func() {
		defer close(out)
		start := time.Now()
		for n := range calls {
			if rate > 0 {
				time.Sleep(time.Until(start.Add(time.Duration(n) * time.Second / time.Duration(rate))))
			}
			out <- n
		}
	}()
	return out
}

func run(clients []testgrpc.TestServiceClient, one call, workers int, numbers <-chan int, leaveEvery int) result {
	out := result{Codes: map[string]int{}, Errors: map[string]int{}}
	var mutex sync.Mutex
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for n := range numbers {
				leave := leaveEvery > 0 && n%leaveEvery == leaveEvery-1
				err := one(clients[n%len(clients)], leave)
				mutex.Lock()
				out.add(err)
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	return out
}
