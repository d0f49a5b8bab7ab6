package main

import (
	"context"
	"flag"
	"io"
	"time"

	testgrpc "google.golang.org/grpc/interop/grpc_testing"
)

const messageBytes = 1 << 20

// stream moves `-mib` messages of 1 MiB in one call.
func stream(flags *flag.FlagSet, arguments []string) error {
	to := targetFlags(flags)
	up := flags.Bool("up", false, "from the client to the server, instead of down")
	mib := flags.Int("mib", 64, "how many messages, each of 1 MiB")
	pause := flags.Duration("pause", 0, "the client waits so long after each message")
	flags.Parse(arguments)

	connection, err := to.dial()
	if err != nil {
		return err
	}
	defer connection.Close()
	client := testgrpc.NewTestServiceClient(connection)
	way := down
	if *up {
		way = upload
	}
	bytes, err := way(client, *mib, *pause)
	if err != nil {
		return err
	}
	return printJSON(map[string]int{"bytes": bytes})
}

func down(client testgrpc.TestServiceClient, messages int, pause time.Duration) (int, error) {
	request := &testgrpc.StreamingOutputCallRequest{}
	for range messages {
		request.ResponseParameters = append(request.ResponseParameters, &testgrpc.ResponseParameters{Size: messageBytes})
	}
	responses, err := client.StreamingOutputCall(context.Background(), request)
	if err != nil {
		return 0, err
	}
	for bytes := 0; ; {
		response, err := responses.Recv()
		if err == io.EOF {
			return bytes, nil
		}
		if err != nil {
			return bytes, err
		}
		bytes += len(response.GetPayload().GetBody())
		time.Sleep(pause)
	}
}

func upload(client testgrpc.TestServiceClient, messages int, pause time.Duration) (int, error) {
	requests, err := client.StreamingInputCall(context.Background())
	if err != nil {
		return 0, err
	}
	request := &testgrpc.StreamingInputCallRequest{Payload: &testgrpc.Payload{Body: make([]byte, messageBytes)}}
	for range messages {
		if err := requests.Send(request); err != nil {
			break // CloseAndRecv has the reason
		}
		time.Sleep(pause)
	}
	response, err := requests.CloseAndRecv()
	return int(response.GetAggregatedPayloadSize()), err
}
