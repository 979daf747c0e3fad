import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, it } from 'node:test'
import { createOutput } from '../output/output.ts'
import { createRedactor } from '../output/redact.ts'
import { createMemoryTerminal } from '../testing/memory-terminal.ts'
import { openReceiver } from './receiver.ts'

describe('the receiver of push notifications', () => {
  it('closes although a sender never finishes its request', { timeout: 120_000 }, async () => {
    const settings = {
      format: 'json',
      isStream: false,
      isInteractive: false,
      isVerbose: false,
      isDebug: false,
    } as const
    const output = createOutput({ terminal: createMemoryTerminal(), redactor: createRedactor(), ...settings })
    const receiver = await openReceiver({
      port: 0,
      host: '127.0.0.1',
      token: undefined,
      taskId: undefined,
      output,
      handle: async () => assert.fail('no notification was complete'),
    })
    const socket = connect(Number(new URL(receiver.url).port), '127.0.0.1').on('error', () => {})
    await once(socket, 'connect')
    const headers = 'Host: a\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue'
    socket.write(`POST / HTTP/1.1\r\n${headers}\r\n\r\n`)
    // The receiver has the headers and waits for the body.
    await once(socket, 'data')
    await receiver.close()
    socket.destroy()
  })
})
