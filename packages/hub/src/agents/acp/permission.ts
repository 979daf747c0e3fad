/** A permission that the agent wants, as a question to the caller, and what the caller's answer means. */
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'
import type { AgentMessage, Json, Message } from '@parley/a2a'

export const refused: RequestPermissionResponse = { outcome: { outcome: 'cancelled' } }

export const chosen = (optionId: string): RequestPermissionResponse => ({ outcome: { outcome: 'selected', optionId } })

/** What is asked for, in a form that a note can keep. */
export interface Asked {
  readonly title: string
  readonly options: readonly { readonly optionId: string; readonly name: string; readonly kind: string }[]
}

export function askedBy({ toolCall, options }: RequestPermissionRequest): Asked {
  const title = (toolCall.title ?? '').trim()
  return {
    title: title === '' ? 'The agent wants to use a tool' : title,
    options: options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
  }
}

/** The options are listed for people, and given as data for programs. */
export function questionOf({ title, options }: Asked, isRepeated = false): AgentMessage {
  const list = options.map(({ name }, index) => `${index + 1}. ${name}`).join('\n')
  const lead = isRepeated ? 'That is none of the options. ' : ''
  const text = `${lead}The agent asks for permission: ${title}\n\n${list}\n\nAnswer with a number, or with the name of an option.`
  return {
    parts: [{ text }, { data: { permission: { title, options: options.map((option) => ({ ...option })) } } }],
  }
}

/** The option that an answer means: by id, by name or by number, as data or as text; or nothing. */
export function optionMeant({ parts }: Pick<Message, 'parts'>, { options }: Asked): string | undefined {
  for (const part of parts) {
    const given = 'data' in part ? optionIn(part.data) : undefined
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
  return byNumber?.optionId ?? plainWords(word, options)
}

function optionIn(data: Json): string | undefined {
  if (typeof data !== 'object' || data === null || Array.isArray(data)) return undefined
  const { optionId, permission } = data as { readonly optionId?: Json; readonly permission?: Json }
  if (typeof optionId === 'string') return optionId
  return permission === undefined ? undefined : optionIn(permission)
}

/** Yes and no mean this time only, where there is such an option. */
function plainWords(word: string, options: Asked['options']): string | undefined {
  if (/^(y|yes|ok|okay|allow|approve)$/.test(word)) return byKind(options, 'allow')
  return /^(n|no|deny|reject|refuse)$/.test(word) ? byKind(options, 'reject') : undefined
}

/** Without asking anybody. Nothing if there is no such option. */
export function byKind(
  options: readonly Pick<PermissionOption, 'optionId' | 'kind'>[] | Asked['options'],
  wanted: 'allow' | 'reject',
): string | undefined {
  const fits = (kind: string) => options.find((option) => option.kind === kind)?.optionId
  return fits(`${wanted}_once`) ?? fits(`${wanted}_always`)
}
