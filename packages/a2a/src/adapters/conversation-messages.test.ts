import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { Turn } from '../agents/agent.ts'
import { fetchIncomingParts, incomingParts } from './conversation-messages.ts'

function turnWith(count: number): Turn {
  const parts = Array.from({ length: count }, (_, index) => ({ url: `https://files.example/${index}` }))
  return {
    signal: new AbortController().signal,
    message: { messageId: 'm', role: 'ROLE_USER', parts },
  } as unknown as Turn
}

it('files of a message are fetched one after the other, up to a limit of all together', async () => {
  const content = new Uint8Array(8)
  let open = 0
  let most = 0
  const fetch = async (): Promise<Response> => {
    open += 1
    most = Math.max(most, open)
    await new Promise((resolve) => setImmediate(resolve))
    open -= 1
    return new Response(content)
  }
  assert.equal((await incomingParts(turnWith(7), { fetch })).length, 7)
  assert.equal((await fetchIncomingParts(turnWith(6), { fetch }, 50)).length, 6)
  await assert.rejects(fetchIncomingParts(turnWith(7), { fetch }, 50), /could not be fetched/)
  assert.equal(most, 1)
})
