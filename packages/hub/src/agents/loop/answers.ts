/** What the message of a turn answers: calls that wait for the client, and the question of a child that waits for anybody. */
import { clientToolsExtension as uri, isRedacted } from '@parley/a2a'
import type { Json, Message, Part, Struct } from '@parley/a2a'
import { shortened } from './result-text.ts'
import type { LoopState, OpenCall } from './state.ts'

export interface Answers {
  /** Calls that the client has run. */
  readonly answered: readonly OpenCall[]
  /** Results that the client marked as secrets: the model is told them, the log is not. */
  readonly secrets: ReadonlyMap<string, string>
}

export const noAnswers: Answers = { answered: [], secrets: new Map() }

const secretPlaceholder = '[a secret, which is not kept]'

/** Changes the state: what is answered waits no longer. */
export function takeAnswers(message: Message, state: LoopState, limit: number): Answers {
  const waiting = state.open.filter(({ state: at, result }) => at === 'waits' && result === undefined)
  const isTimeout = message.metadata?.['reason'] === 'INPUT_TIMEOUT'
  const said = isTimeout ? [] : wordsBeside(message, state)
  const answered: OpenCall[] = []
  const secrets = new Map<string, string>()

  for (const call of waiting) {
    if (call.child === undefined) answerForClient(call)
    else if (isTimeout) call.result = 'Nobody answered the question of that agent in time.'
  }
  const asking = waiting.find(({ child, result }) => child !== undefined && result === undefined)
  if (asking === undefined) {
    if (said.length > 0) state.then.push({ role: 'user', content: textIn(said), from: message.messageId })
  } else if (said.length > 0) {
    asking.state = 'planned'
    asking.answeredBy = message.messageId
  }
  return { answered, secrets }

  function answerForClient(call: OpenCall): void {
    const part = message.parts.find((given) => resultIdIn(given) === call.id)
    if (part === undefined) {
      call.result = isTimeout ? 'The client did not answer in time.' : 'The client has not run this tool.'
      return
    }
    const text = shortened(resultTextIn(part), limit)
    call.result = isSecret(part) ? secretPlaceholder : text
    if (isSecret(part) && !isRedacted(part)) secrets.set(call.id, text)
    answered.push(call)
  }
}

/**
 * What goes down to the child of a call. In memory alone, because it may be a secret; one that a restart has lost is asked
 * for again.
 */
export function answerForChild(call: OpenCall, message: Message, state: LoopState): readonly Part[] | undefined {
  if (call.answeredBy === undefined || call.answeredBy !== message.messageId) return undefined
  const said = wordsBeside(message, state)
  return said.length === 0 || isRedacted({ parts: said }) ? undefined : said
}

/** The call that a part is the result of, if it is one. */
export function resultIdIn(part: Part): string | undefined {
  if (!('data' in part) || !isStruct(part.data) || aboutIn(part)['type'] !== 'tool-result') return undefined
  const id = part.data['toolUseId']
  return typeof id === 'string' ? id : undefined
}

/** All but the results of our own calls. */
function wordsBeside({ parts }: Message, { open }: LoopState): readonly Part[] {
  const ours = new Set(open.filter(({ child }) => child === undefined).map(({ id }) => id))
  return parts.filter((part) => !ours.has(resultIdIn(part) ?? '') && !('text' in part && part.text === ''))
}

function textIn(parts: readonly Part[]): string {
  return parts.map((part) => ('text' in part ? part.text : '[a file]')).join('\n')
}

function resultTextIn(part: Part): string {
  const data = 'data' in part && isStruct(part.data) ? part.data : {}
  if (data['redacted'] === true) return 'This was a secret, and is not known any more.'
  const { error, result } = data
  if (error !== undefined) return `The tool failed: ${typeof error === 'string' ? error : JSON.stringify(error)}`
  return typeof result === 'string' ? result : JSON.stringify(result ?? null)
}

function isSecret(part: Part): boolean {
  return aboutIn(part)['sensitive'] === true || isRedacted(part)
}

function aboutIn(part: Part): Struct {
  const given = part.metadata?.[uri]
  return isStruct(given) ? given : {}
}

function isStruct(value: Json | undefined): value is Struct {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
