/** The tool calls of a run as reports: their names, or also their arguments and results. */
import type { Report, Json } from '@parley/a2a'
import { asFields, stringField, type GatewayFields } from './gateway/frames.ts'

export type ToolDetail = 'none' | 'names' | 'full'

/** Limit of arguments, and of a result. */
const mostChars = 4_000

/**
 * `tool` events reach the connection that started the run; later connections get only `item` events, which have no
 * arguments. Each call is reported once at its start and once at its end, whichever event reports it.
 */
export function toolReport(
  stream: unknown,
  data: GatewayFields,
  isItemStream: boolean,
  reported: Set<string>,
  detail: ToolDetail,
): Report | undefined {
  if (detail === 'none' || stream !== (isItemStream ? 'item' : 'tool')) return undefined
  if (isItemStream && data['kind'] !== 'tool') return undefined
  const id = stringField(data, 'toolCallId')
  const phase = phaseOf(data['phase'])
  if (id === undefined || phase === undefined || reported.has(`${id} ${phase}`)) return undefined
  reported.add(`${id} ${phase}`)
  return {
    state: 'TASK_STATE_WORKING',
    metadata: {
      toolCall: {
        id,
        name: stringField(data, 'name') ?? 'tool',
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

function detailsOf(data: GatewayFields): { readonly [key: string]: Json } {
  const content = asFields(data['result'])['content']
  return {
    ...(data['args'] !== undefined ? { args: bounded(data['args']) } : {}),
    ...(content !== undefined ? { result: bounded(content) } : {}),
  }
}

/** Replaces a value that is too long by its truncated text. */
function bounded(value: unknown): Json {
  const text = JSON.stringify(value) ?? 'null'
  return text.length <= mostChars ? (JSON.parse(text) as Json) : `${text.slice(0, mostChars)}…`
}
