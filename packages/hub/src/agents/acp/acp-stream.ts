/**
 * Messages of the Agent Client Protocol over stdin and stdout of a program. The SDK's own stream is not used: it answers
 * every invalid line with an error, which programs that print to stdout do not expect. Here updates also stay in order,
 * because each is delivered before the next message is read.
 */
import type { SessionNotification, AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Program } from '../programs/program.ts'
import { defaultJsonNodes, exceedsJsonNodes } from '@parley/a2a/internal'
import { splitLines } from '../programs/lines.ts'
import { attempt } from '../../json/attempt.ts'

interface AcpStreamDeps {
  readonly program: Program
  readonly limitBytes: number
  /** Limit of JSON values in one message. */
  readonly jsonNodes?: number | undefined
  onUpdate(notification: SessionNotification): void
  /** Called for a line that is not a message. */
  onInvalidLine(line: string): void
}

export function createAcpStream({
  program,
  limitBytes,
  jsonNodes = defaultJsonNodes,
  onUpdate,
  onInvalidLine,
}: AcpStreamDeps): Stream {
  const lines = splitLines(program.output, limitBytes)

  async function next(): Promise<AnyMessage | undefined> {
    for (;;) {
      const step = await lines.next()
      if (step.done === true) return undefined
      const { text, endsAt } = step.value
      if (endsAt === 'limit') throw new Error(`the agent sent a message of more than ${limitBytes} bytes`)
      if (exceedsJsonNodes(text, jsonNodes)) {
        throw new Error(`the agent sent a message of more than ${jsonNodes} JSON values`)
      }
      const message = parseMessage(text)
      if (message === undefined) {
        if (text.trim() !== '') onInvalidLine(text)
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

function parseMessage(text: string): AnyMessage | undefined {
  const value = attempt((): unknown => JSON.parse(text))
  const isMessage = typeof value === 'object' && value !== null && (value as AnyMessage).jsonrpc === '2.0'
  return isMessage ? (value as AnyMessage) : undefined
}

/** Checks the fields that the receivers of updates rely on. */
function isUpdate(message: AnyMessage): message is AnyMessage & { readonly params: SessionNotification } {
  if (!('method' in message) || message.method !== 'session/update' || 'id' in message) return false
  const params = message.params as Partial<SessionNotification> | undefined
  return typeof params?.sessionId === 'string' && typeof params.update?.sessionUpdate === 'string'
}
