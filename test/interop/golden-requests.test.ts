/**
 * What published clients in other languages post over 0.3 REST, byte for byte: what the SDK for Python 0.3.26 was
 * seen to send, and what the SDK for Java 0.3.3 writes by its protobuf printer. In polling mode both mean "do not wait"
 * by omitting `blocking` from a present configuration (B-66).
 */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { openInteropServer } from './interop-server.ts'
import type { InteropServer } from './interop-server.ts'

interface GoldenRequest {
  readonly client: string
  /** What the agent waits for. */
  readonly held: string
  readonly polling: string
  readonly waiting: string
}

const goldenRequests: readonly GoldenRequest[] = [
  {
    client: 'a2a-sdk 0.3.26 for Python',
    held: 'python',
    polling:
      '{"message":{"messageId":"m-python-1","role":"ROLE_USER","content":[{"text":"hold python"}]},"configuration":{}}',
    waiting:
      '{"message":{"messageId":"m-python-2","role":"ROLE_USER","content":[{"text":"hold python"}]},"configuration":{"blocking":true}}',
  },
  {
    client: 'a2a-java-sdk 0.3.3',
    held: 'java',
    polling: `{
  "message": {
    "messageId": "m-java-1",
    "role": "ROLE_USER",
    "content": [{
      "text": "hold java"
    }],
    "metadata": {
    }
  },
  "configuration": {
  },
  "metadata": {
  }
}`,
    waiting: `{
  "message": {
    "messageId": "m-java-2",
    "role": "ROLE_USER",
    "content": [{
      "text": "hold java"
    }],
    "metadata": {
    }
  },
  "configuration": {
    "blocking": true
  },
  "metadata": {
  }
}`,
  },
]

for (const { client, held, polling, waiting } of goldenRequests) {
  describe(`a REST request as ${client} writes it`, { timeout: 120_000 }, () => {
    let server: InteropServer
    before(async () => {
      server = await openInteropServer()
    })
    after(() => server.close())

    // Neither sends a version.
    const headers = { 'content-type': 'application/json', accept: '*/*' }
    async function send(body: string) {
      const response = await fetch(`${server.url}/v1/message:send`, { method: 'POST', headers, body })
      assert.equal(response.status, 200)
      return (await response.json()) as { task: { id: string; status: { state: string }; artifacts?: unknown[] } }
    }

    it('returns at once in polling mode, and the work continues [B-64 B-66]', async () => {
      const { task } = await send(polling)
      assert.match(task.status.state, /^TASK_STATE_(SUBMITTED|WORKING)$/)
      server.release(held)
      let state = ''
      while (state !== 'TASK_STATE_COMPLETED') {
        const read = await fetch(`${server.url}/v1/tasks/${task.id}`, { headers })
        state = ((await read.json()) as { status: { state: string } }).status.state
      }
    })

    it('waits if it requests a blocking send [B-63 B-66]', async () => {
      server.release(held)
      const { task } = await send(waiting)
      assert.equal(task.status.state, 'TASK_STATE_COMPLETED')
    })
  })
}

describe('a REST error of 0.3', () => {
  it('has the fields that the clients for Python and Java read, and those for JavaScript [A-6]', async (t) => {
    const server = await openInteropServer()
    t.after(() => server.close())
    const response = await fetch(`${server.url}/v1/tasks/nope`)
    assert.deepEqual(
      [response.status, await response.json()],
      [
        404,
        {
          code: -32001,
          message: 'Task not found',
          data: { reason: 'TASK_NOT_FOUND', taskId: 'nope' },
          type: 'TaskNotFoundError',
          error: 'io.a2a.spec.TaskNotFoundError',
        },
      ],
    )
  })
})
