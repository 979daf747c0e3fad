/** A proxy to a scripted remote agent, and functions to inspect the result. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { StreamEvent, Task } from '@parley/a2a'
import type { TestSendOptions } from '../../packages/a2a/src/testing/test-agent.ts'
import type { TestAgent } from '@parley/a2a/testing'
import { openProxyFixture, statusOf } from './proxy-fixture.ts'
import type { ProxyFixture, ProxyFixtureOptions } from './proxy-fixture.ts'
import { openFakeRemote } from './fake-remote.ts'
import type { FakeAnswer, FakeCall, FakeOptions, FakeRemote } from './fake-remote.ts'

export type FakeHandler = (call: FakeCall) => FakeAnswer | Promise<FakeAnswer>

export async function openProxyToFakeRemote(
  t: TestContext,
  answer: FakeHandler,
  fake: FakeOptions = {},
  options: ProxyFixtureOptions = {},
): Promise<ProxyFixture & { readonly remote: FakeRemote }> {
  const remote = await openFakeRemote(answer, fake)
  t.after(() => remote.close())
  return { remote, ...(await openProxyFixture(t, remote.url, options)) }
}

export async function sendForTask(agent: TestAgent, text = 'go', options: TestSendOptions = {}): Promise<Task> {
  const answer = await agent.send(text, options)
  assert.ok('status' in answer, `expected a task, got ${JSON.stringify(answer)}`)
  return answer
}

export const chunksIn = (events: readonly StreamEvent[]): readonly string[] =>
  events.flatMap((event) =>
    'artifactUpdate' in event
      ? event.artifactUpdate.artifact.parts.map((part) => ('text' in part ? part.text : ''))
      : [],
  )

/** Each status with its text, without bare WORKING updates. */
export const statesIn = (events: readonly StreamEvent[]): readonly string[] =>
  events
    .flatMap((event) => ('statusUpdate' in event ? [statusOf({ id: '', status: event.statusUpdate.status })] : []))
    .filter((state) => state !== 'WORKING')

/** The message of a request to the remote agent. */
export interface SentMessage {
  readonly messageId: string
  readonly taskId?: string
  readonly contextId?: string
  readonly parts: readonly Record<string, unknown>[]
  readonly metadata?: Record<string, unknown>
  readonly extensions?: readonly string[]
  readonly referenceTaskIds?: readonly string[]
}

export const messageIn = ({ params }: FakeCall): SentMessage => params['message'] as SentMessage
