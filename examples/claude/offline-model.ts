/**
 * A model on loopback, so that the example needs no key: the program of the SDK calls it instead of the service. It calls the tool
 * once, then tells the result.
 */
import { once } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'

/** The environment of the program: the model, and a folder of its own for transcripts. */
export async function offlineEnvironment(): Promise<Record<string, string | undefined>> {
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const result = /"text":"(paid [^"]+)"/.exec(body)?.[1]
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of result === undefined ? callEvents : textEvents(`Done: ${result}`))
        response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      response.end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  // The example ends with the agent.
  server.unref()
  return {
    ...process.env,
    ANTHROPIC_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ANTHROPIC_API_KEY: 'offline',
    CLAUDE_CONFIG_DIR: mkdtempSync(join(tmpdir(), 'claude-example-')),
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  }
}

type ModelEvent = { readonly type: string } & Record<string, unknown>

const usage = { input_tokens: 20, output_tokens: 8 }

function messageEvents(block: object, delta: object, stopReason: string): readonly ModelEvent[] {
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'offline', content: [], usage }
  return [
    { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: stopReason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]
}

const callEvents = messageEvents(
  { type: 'tool_use', id: 'toolu_1', name: 'mcp__bank__pay', input: {} },
  { type: 'input_json_delta', partial_json: JSON.stringify({ invoice: 'INV-7', amount: 42 }) },
  'tool_use',
)

function textEvents(answer: string): readonly ModelEvent[] {
  return messageEvents({ type: 'text', text: '' }, { type: 'text_delta', text: answer }, 'end_turn')
}
