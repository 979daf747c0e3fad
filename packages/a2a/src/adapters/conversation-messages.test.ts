import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Turn } from '../agents/agent.ts'
import { incomingParts } from './conversation-messages.ts'

function turnWith(count: number): Turn {
  const parts = Array.from({ length: count }, (_, index) => ({ url: `https://files.example/${index}` }))
  return {
    signal: new AbortController().signal,
    message: { messageId: 'm', role: 'ROLE_USER', parts },
  } as unknown as Turn
}

it('files of a message are fetched one after the other, up to a limit of all together', async () => {
  const content = new Uint8Array(8_000_000)
  let open = 0
  let most = 0
  const fetch = async (): Promise<Response> => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    return new Response(content)
  }
  assert.equal((await incomingParts(turnWith(3), { fetch })).length, 3)
  await assert.rejects(incomingParts(turnWith(8), { fetch }), /could not be fetched/)
  assert.equal(most, 1)
})
