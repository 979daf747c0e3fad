/**
 * Messages of the Agent Client Protocol over a program's input and output. Not the SDK's own stream: that answers every
 * line of debris with an error, which programs that print to their output do not expect; and updates overtake nothing here,
 * because they are told before whatever comes after them is read.
 */
import type { AnyMessage, SessionNotification, Stream } from '@agentclientprotocol/sdk'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/server'
import { linesOf } from '../programs/lines.ts'
import type { Program } from '../programs/program.ts'

export interface WireParts {
  readonly program: Program
  readonly limitBytes: number
  /** JSON values in one message. */
  readonly jsonNodes?: number | undefined
  onUpdate(notification: SessionNotification): void
  /** A line that is no message. */
  onDebris(line: string): void
}

export function acpWire({ program, limitBytes, jsonNodes = defaultJsonNodes, onUpdate, onDebris }: WireParts): Stream {
  const lines = linesOf(program.output, limitBytes)

  async function next(): Promise<AnyMessage | undefined> {
    for (;;) {
      const step = await lines.next()
      if (step.done === true) return undefined
      const { text, endsAt } = step.value
      if (endsAt === 'limit') throw new Error(`the agent sent a message of more than ${limitBytes} bytes`)
      if (exceedsJsonNodes(text, jsonNodes)) {
        throw new Error(`the agent sent a message of more than ${jsonNodes} JSON values`)
      }
      const message = read(text)
      if (message === undefined) {
        if (text.trim() !== '') onDebris(text)
      } else if (isUpdate(message)) onUpdate(message.params)
      else return message
    }
  }

  return {
    readable: new ReadableStream<AnyMessage>({
      async pull(controller) {
        const message = await next()
        if (message === undefined) controller.close()
        else controller.enqueue(message)
      },
    }),
    writable: new WritableStream<AnyMessage>({
      write: (message) => program.write(`${JSON.stringify(message)}\n`),
    }),
  }
}

function read(text: string): AnyMessage | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isMessage = typeof value === 'object' && value !== null && (value as AnyMessage).jsonrpc === '2.0'
    return isMessage ? (value as AnyMessage) : undefined
  } catch {
    return undefined
  }
}

/** As much as whoever gets it relies on. */
function isUpdate(message: AnyMessage): message is AnyMessage & { readonly params: SessionNotification } {
  if (!('method' in message) || message.method !== 'session/update' || 'id' in message) return false
  const params = message.params as Partial<SessionNotification> | undefined
  return typeof params?.sessionId === 'string' && typeof params.update?.sessionUpdate === 'string'
}
