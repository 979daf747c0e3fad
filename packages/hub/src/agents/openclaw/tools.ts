/** The tools that an agent uses, as the metadata of a status: `{ toolCall }` (S4-17). */
import type { Json, Report } from '@parley/a2a'
import { fieldsOf, textIn } from './wire.ts'
import type { Fields } from './wire.ts'

export type ToolDetail = 'none' | 'names' | 'full'

/** Of arguments, and of a result. */
const mostChars = 4_000

/**
 * `tool` events come to the connection that began the run; afterwards only `item` events do, which know no arguments.
 * Each call is told when it begins and when it ends, whatever tells of it.
 */
export function toolReport(
  stream: unknown,
  data: Fields,
  byItems: boolean,
  told: Set<string>,
  detail: ToolDetail,
): Report | undefined {
  if (detail === 'none' || stream !== (byItems ? 'item' : 'tool')) return undefined
  if (byItems && data['kind'] !== 'tool') return undefined
  const id = textIn(data, 'toolCallId')
  const phase = phaseOf(data['phase'])
  if (id === undefined || phase === undefined || told.has(`${id} ${phase}`)) return undefined
  told.add(`${id} ${phase}`)
  return {
    state: 'TASK_STATE_WORKING',
    metadata: {
      toolCall: {
        id,
        name: textIn(data, 'name') ?? 'tool',
        phase,
        ...(phase === 'result' ? { isError: data['isError'] === true || data['status'] === 'failed' } : {}),
        ...(detail === 'full' ? detailsOf(data) : {}),
      },
    },
  }
}

function phaseOf(phase: unknown): 'start' | 'result' | undefined {
  if (phase === 'start') return 'start'
  return phase === 'result' || phase === 'end' ? 'result' : undefined
}

function detailsOf(data: Fields): { readonly [key: string]: Json } {
  const content = fieldsOf(data['result'])['content']
  return {
    ...(data['args'] !== undefined ? { args: bounded(data['args']) } : {}),
    ...(content !== undefined ? { result: bounded(content) } : {}),
  }
}

/** What is too long to be passed on as it is becomes the beginning of its text. */
function bounded(value: unknown): Json {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= mostChars ? (JSON.parse(text) as Json) : `${text.slice(0, mostChars)}…`
}
