/** A permission request of the agent as a question to the caller, and the meaning of the answer. */
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { AgentMessage, Json, Message, Turn } from '@parley/a2a'
import type { AcpEntry } from './entry.ts'

export const cancelledPermission: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

const selectedPermission = (optionId: string): RequestPermissionResponse => ({
  outcome: { outcome: 'selected', optionId },
})

/** The request in a form that a checkpoint can store. */
export interface PermissionQuestion {
  readonly title: string
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[]
}

export function questionFromRequest({ toolCall, options }: RequestPermissionRequest): PermissionQuestion {
  const title = (toolCall.title ?? '').trim()
  return {
    title: title === '' ? 'The agent wants to use a tool' : title,
    options: options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
  }
}

/** Lists the options as text for people and as data for programs. */
export function permissionMessage({ title, options }: PermissionQuestion, isRepeated = false): AgentMessage {
  const list = options.map(({ name }, index) => `${index + 1}. ${name}`).join('\n')
  const lead = isRepeated ? 'That is not one of the options. ' : ''
  const text = `${lead}The agent asks for permission: ${title}\n\n${list}\n\nAnswer with a number, or with the name of an option.`
  return {
    parts: [{ text }, { data: { permission: { title, options: options.map((option) => ({ ...option })) } } }],
  }
}

/** The option that an answer selects: by id, name or number, as data or as text; otherwise undefined. */
export function parseOption({ parts }: Pick<Message, 'parts'>, { options }: PermissionQuestion): string | undefined {
  for (const part of parts) {
    const given = 'data' in part ? optionIdInData(part.data) : undefined
    if (options.some(({ optionId }) => optionId === given)) return given
  }
  const text = parts.map((part) => ('text' in part ? part.text : '')).join(' ')
  const word = text
    .trim()
    .toLowerCase()
    .replace(/[.!]+$/, '')
  const byName = options.find(({ optionId, name }) => [optionId, name].some((each) => each.toLowerCase() === word))
  if (byName !== undefined) return byName.optionId
  const byNumber = /^\d{1,3}$/.test(word) ? options[Number(word) - 1] : undefined
  return byNumber?.optionId ?? optionForYesNo(word, options)
}

function optionIdInData(data: Json): string | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const { optionId, permission } = data as { readonly optionId?: Json; readonly permission?: Json }
  if (typeof optionId === 'string') return optionId
  return permission === undefined ? undefined : optionIdInData(permission)
}

/** Yes and no select an option for this time only, if there is one. */
function optionForYesNo(word: string, options: PermissionQuestion['options']): string | undefined {
  if (/^(y|yes|ok|okay|allow|approve)$/.test(word)) return optionOfKind(options, 'allow')
  return /^(n|no|deny|reject|refuse)$/.test(word) ? optionOfKind(options, 'reject') : undefined
}

/** Selects an option without asking. Undefined if there is none of this kind. */
export function optionOfKind(
  options: readonly Pick<PermissionOption, 'optionId' | 'kind'>[] | PermissionQuestion['options'],
  wanted: 'allow' | 'reject',
): string | undefined {
  const fits = (kind: string) => options.find((option) => option.kind === kind)?.optionId
  return fits(`${wanted}_once`) ?? fits(`${wanted}_always`)
}

/** The questions of a turn, as a checkpoint stores them. */
export interface PermissionQuestions {
  /** How many times the caller was asked in this turn. */
  readonly count: number
  /** The last question. */
  readonly last?: PermissionQuestion
}

/**
 * Asks for the permissions of one turn. After a restart the log returns earlier answers in order. Each belongs to the
 * question it was given to, so those questions are replayed before any new one is asked.
 */
export interface PermissionPrompter {
  readonly questions: PermissionQuestions
  /** Replays the questions from before a restart; waits for the answer that is still missing. */
  replayAnswers(): Promise<void>
  decide(request: RequestPermissionRequest): Promise<RequestPermissionResponse>
}

interface PermissionPrompterDeps {
  readonly turn: Turn
  readonly policy: AcpEntry['permissions']
  readonly before?: PermissionQuestions
  /** Stores the questions durably. */
  save(questions: PermissionQuestions): Promise<void>
}

export function createPermissionPrompter({
  turn,
  policy,
  before = { count: 0 },
  save,
}: PermissionPrompterDeps): PermissionPrompter {
  let questions = before
  let granted: { readonly title: string; readonly optionId: string } | undefined

  /** Repeats the question until the reply is a valid answer. */
  async function ask(asked: PermissionQuestion, isRepeated = false): Promise<string> {
    questions = { count: questions.count + 1, last: asked }
    await save(questions)
    const message = await turn.askMessage(permissionMessage(asked, isRepeated))
    return parseOption(message, asked) ?? ask(asked, true)
  }

  return {
    get questions() {
      return questions
    },
    async replayAnswers() {
      const { count, last } = before
      if (last === undefined) return
      for (let index = 1; index <= count; index += 1) {
        const message = await turn.askMessage(permissionMessage(last, index > 1))
        if (index < count) continue
        granted = { title: last.title, optionId: parseOption(message, last) ?? (await ask(last, true)) }
      }
    },
    async decide(request) {
      const asked = questionFromRequest(request)
      if (policy !== 'ask') {
        const optionId = optionOfKind(asked.options, policy)
        return optionId === undefined ? cancelledPermission : selectedPermission(optionId)
      }
      const known = granted
      granted = undefined
      const isKnown = known?.title === asked.title && asked.options.some(({ optionId }) => optionId === known.optionId)
      return selectedPermission(isKnown ? known.optionId : await ask(asked))
    },
  }
}
