/** Reads the body of a response that is not a stream, with limits on size and time; always releases the body. */
import { A2AError } from '../../model/error.ts'
import { startTimeout } from '../../model/signals.ts'
import type { HttpAnswer } from '../contract.ts'

/** Over the size limit, on timeout or on abort, the body is cancelled and the reason thrown. */
export async function readText(
  response: HttpAnswer,
  maxBytes: number,
  signal: AbortSignal,
  timeoutMs = Infinity,
): Promise<string> {
  const reader = response.body?.getReader()
  if (reader === undefined) return ''
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  let failure: Error | undefined
  // Cancelling ends the pending read, whether or not the body observes our signal.
  const stop = (reason: unknown): void => {
    failure ??= reason as Error
    reader.cancel(reason).catch(() => {})
  }
  const onAbort = (): void => stop(signal.reason)
  const timer = startTimeout(timeoutMs, () => stop(timeoutError('The end of a response')))
  signal.addEventListener('abort', onAbort)
  if (signal.aborted) onAbort()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (failure !== undefined) throw failure
      if (done) return text + decoder.decode()
      bytes += value.byteLength
      if (bytes > maxBytes) {
        const message = `The response exceeds the limit of ${maxBytes} bytes of this client`
        throw new A2AError('INVALID_AGENT_RESPONSE', message, { maxBytes: String(maxBytes) })
      }
      text += decoder.decode(value, { stream: true })
    }
  } catch (reason) {
    stop(reason)
    if (signal.aborted) throw signal.reason
    if (reason instanceof A2AError) throw reason
    throw new A2AError('INTERRUPTED', 'The connection broke during the response', {}, { cause: reason })
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', onAbort)
  }
}

/** Throws INVALID_AGENT_RESPONSE if a text contains too many JSON values. A text too short for that loads no code. */
export async function checkJsonNodesIfLong(
  text: string,
  { maxJsonNodes }: { readonly maxJsonNodes?: number },
): Promise<void> {
  if (text.length > (maxJsonNodes ?? 1)) (await import('./check-json-nodes.ts')).checkJsonNodes(text, maxJsonNodes)
}

/** A response whose body is not read would keep its connection. */
export function discardBody(response: HttpAnswer): void {
  response.body?.cancel().catch(() => {})
}

export const timeoutError = (what: string): A2AError => new A2AError('TIMEOUT', `${what} timed out`)
