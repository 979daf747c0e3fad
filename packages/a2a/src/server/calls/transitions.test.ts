import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { legacy, modern, openGrpcServers, grpcMessageRequest } from '../../testing/fixtures/grpc-server.ts'
import { legacyTestMessage, openServers, rpc } from '../../testing/fixtures/test-server.ts'

const { open, post, get } = openServers()
const grpc = openGrpcServers()
const card = '/.well-known/agent-card.json'
const version = (id: string) => ({ 'a2a-version': id })

describe('the history of states', () => {
  it('is declared in the cards of 0.x, and in no card of 1.0', async () => {
    const handler = open({ stateTransitionHistory: true })
    const flagIn = async (path: string, headers = {}): Promise<unknown> =>
      (await get(handler, path, headers)).json.capabilities.stateTransitionHistory
    assert.equal(await flagIn(card, version('0.3')), true)
    assert.equal(await flagIn('/.well-known/agent.json'), true)
    assert.equal(await flagIn(card), true, 'the card for all holds the fields of 0.3')
    assert.equal(await flagIn(card, version('1.0')), undefined)
    const silent = await get(open(), card, version('0.3'))
    assert.equal(silent.json.capabilities.stateTransitionHistory, undefined)
  })

  it('is returned by tasks/get in the format of 0.x, under the name of the capability', async () => {
    const handler = open({ stateTransitionHistory: true })
    for (const headers of [version('0.3'), version('0.2')]) {
      const sent = await post(handler, rpc('message/send', { message: legacyTestMessage() }), headers)
      const { id } = sent.json.result
      const { result } = (await post(handler, rpc('tasks/get', { id }), headers)).json
      const transitions = result.metadata.stateTransitionHistory as { state: string; timestamp: string }[]
      assert.deepEqual(
        transitions.map(({ state }) => state),
        ['submitted', 'working', 'completed'],
      )
      assert.equal(transitions.at(-1)?.timestamp, result.status.timestamp)
      const modernly = await post(handler, rpc('GetTask', { id }), version('1.0'))
      assert.equal(modernly.json.result.metadata, undefined)
    }
  })

  it('is returned over REST and gRPC of 0.3 in the format of their proto', async () => {
    const server = await grpc.open({ agent: () => ({ state: 'TASK_STATE_CANCELED' }), stateTransitionHistory: true })
    const peer = grpc.client(server.grpcPort)
    const { id } = (await peer.call(modern, 'SendMessage', grpcMessageRequest())).payload.task
    const rest = (await (await fetch(`${server.url}/v1/tasks/${id}`)).json()) as Record<string, never>
    const { payload } = await peer.call(legacy, 'GetTask', { name: `tasks/${id}` })
    for (const { metadata } of [rest, payload] as { metadata: { stateTransitionHistory: { state: string }[] } }[]) {
      const states = metadata.stateTransitionHistory.map(({ state }) => state)
      assert.deepEqual(states, ['TASK_STATE_SUBMITTED', 'TASK_STATE_CANCELLED'])
    }
  })
})
