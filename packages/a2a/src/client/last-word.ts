/** Some peers stream whatever they are asked: where one answer was wanted, it is what the events add up to. */
import { A2AError } from '../model/error.ts'
import { linkSignals } from '../model/linked-signal.ts'
import type { Operation, ResultOf } from '../model/operation.ts'
import { hasSettled } from '../model/state.ts'
import type { WireCall, WireStream } from './contract.ts'
import { answerFrom, emptyReduction, reduce } from './reduce.ts'

export async function lastWord<O extends Operation>(
  operation: O,
  about: WireCall,
  open: (about: WireCall) => Promise<WireStream>,
): Promise<ResultOf<O>> {
  const told = emptyReduction()
  // However much is said meanwhile, the answer has its time as any other.
  const { signal, end } = linkSignals([about.signal], about.timeoutMs)
  try {
    for await (const { event } of await open({ ...about, signal })) {
      reduce(told, event)
      // Not every peer closes when it has said everything.
      if ('message' in event || (told.status !== undefined && hasSettled(told.status.state))) break
    }
  } finally {
    end()
  }
  const answer = answerFrom(told)
  if (answer === undefined) throw new A2AError('INVALID_AGENT_RESPONSE', `The peer answered ${operation} with no event`)
  const { kind, ...said } = answer
  // Only these can be answered by events: those of anything else have not been understood.
  return (operation === 'SendMessage' ? { [kind]: said } : said) as ResultOf<O>
}
