/** The published clients of each version, a hub between, and the published servers: third-party code at both ends. */
import assert from 'node:assert/strict'
import { after, before, describe, it } from 'node:test'
import { A2AClient as OldClient } from 'a2a-sdk-0.2/client'
import { ClientFactory as Factory03 } from 'a2a-sdk-0.3/client'
import { ClientFactory as Factory1 } from 'a2a-sdk-1/client'
import type { Hub } from '../../packages/hub/src/hub.ts'
import type { Peer, PeerKind } from '../interop/client/peer.ts'
import { sdk02 } from '../interop/client/sdk-0.2-server.ts'
import { sdk03 } from '../interop/client/sdk-0.3-server.ts'
import { sdk1 } from '../interop/client/sdk-1-server.ts'
import { openProxyHub } from './proxy-matrix.ts'
import { createRemoteScript, numberedWords } from './remote-script.ts'

interface SdkCaller {
  readonly name: string
  /** The text of the answer, by send and by stream. */
  ask(url: string, text: string): Promise<{ readonly sent: string; readonly streamed: string }>
}

/** The texts of the artifacts in a result of any version, in order. */
function textsIn(value: unknown): string {
  if (typeof value !== 'object' || value === null) return ''
  if (Array.isArray(value)) return value.map(textsIn).join('')
  if ('artifactId' in value && 'parts' in value) return textOfParts(value.parts)
  const { history: _, status: __, ...rest } = value as Record<string, unknown>
  return Object.values(rest).map(textsIn).join('')
}

function textOfParts(parts: unknown): string {
  return (parts as readonly Record<string, unknown>[])
    .map((part) => String(part['text'] ?? (part['content'] as { value?: unknown } | undefined)?.value ?? ''))
    .join('')
}

const old = (text: string) => {
  const messageId = crypto.randomUUID()
  return { message: { kind: 'message', messageId, role: 'user', parts: [{ kind: 'text', text }] } } as const
}

const callers: readonly SdkCaller[] = [
  {
    name: '0.2.5',
    async ask(url, text) {
      const client = new OldClient(url)
      const sent = await client.sendMessage({ ...old(text) } as never)
      const streamed = await Array.fromAsync(client.sendMessageStream({ ...old(text) } as never))
      return { sent: textsIn(sent), streamed: textsIn(streamed) }
    },
  },
  {
    name: '0.3.14',
    async ask(url, text) {
      const client = await new Factory03().createFromUrl(url, '/.well-known/agent-card.json')
      const sent = await client.sendMessage({ ...old(text) } as never)
      const streamed = await Array.fromAsync(client.sendMessageStream({ ...old(text) } as never))
      return { sent: textsIn(sent), streamed: textsIn(streamed) }
    },
  },
  {
    name: '1.3.0',
    async ask(url, text) {
      const client = await new Factory1().createFromUrl(url, '/.well-known/agent-card.json')
      const { SendMessageRequest } = await import('a2a-sdk-1')
      const request = () =>
        SendMessageRequest.fromJSON({
          message: { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text }] },
        })
      const sent = await client.sendMessage(request())
      const streamed = await Array.fromAsync(client.sendMessageStream(request()))
      return { sent: textsIn(sent), streamed: textsIn(streamed) }
    },
  },
]

const remotes: readonly PeerKind[] = [sdk02, sdk03('JSONRPC'), sdk1('1.0', 'JSONRPC')]

for (const remote of remotes) {
  describe(`the hub before ${remote.name}`, { timeout: 120_000 }, () => {
    let peer: Peer
    let hub: Hub
    before(async () => {
      peer = await remote.open(createRemoteScript().play)
      hub = await openProxyHub(peer.url, remote)
    })
    after(async () => {
      await hub.close()
      await peer.close()
    })
    for (const caller of callers) {
      it(`answers the client of @a2a-js/sdk ${caller.name}, by send and by stream [B-13]`, async () => {
        const { sent, streamed } = await caller.ask(`${hub.url}/a2a/partner`, 'count 5')
        assert.deepEqual([sent, streamed], [numberedWords(5).join(''), numberedWords(5).join('')])
      })
    }
  })
}
