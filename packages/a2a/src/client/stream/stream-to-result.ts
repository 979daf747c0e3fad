/** Some peers stream whatever the request is: a call that expects one response gets what the events add up to. */
import { A2AError } from '../../model/error.ts'
import { linkSignals } from '../../model/signals.ts'
import type { Operation, ResultOf } from '../../model/operation.ts'
import { hasSettled } from '../../model/state.ts'
import type { TransportCallOptions, TransportStream } from '../contract.ts'
import { responseFrom, createStreamState, applyEvent } from './stream-state.ts'

export async function streamToResult<O extends Operation>(
  operation: O,
  about: TransportCallOptions,
  open: (about: TransportCallOptions) => Promise<TransportStream>,
): Promise<ResultOf<O>> {
  const streamState = createStreamState()
  // The timeout applies to the whole response, however many events it has.
  const { signal, end } = linkSignals([about.signal], about.timeoutMs)
  try {
    for await (const { event } of await open({ ...about, signal })) {
      applyEvent(streamState, event)
      // Not every peer closes the stream after the last event.
      if ('message' in event || (streamState.status !== undefined && hasSettled(streamState.status.state))) break
    }
  } finally {
    end()
  }
  const answer = responseFrom(streamState)
  if (answer === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `The peer answered ${operation} with no event`)
  const { kind, ...said } = answer
  // Only these operations can be answered by events; the events of any other have no defined meaning.
  return (operation === 'SendMessage' ? { [kind]: said } : said) as ResultOf<O>
}
