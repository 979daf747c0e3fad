/** Profiles of scripted agents: the built-in ones, and those of a JSON file. */
import type { MessageHint, Profile, Scenario } from './options.ts'
import { isObject } from './wire/encode-request.ts'

const scenarios: readonly Scenario[] = [
  'complete',
  'artifact',
  'message',
  'inputRequired',
  'authRequired',
  'slow',
  'reject',
  'fail',
  'stream',
]

/** Agents that are scripted for the official test kit react to the beginning of the message id. */
const tck: Profile = {
  name: 'tck',
  messages: {
    complete: { messageIdPrefix: 'tck-complete-task' },
    artifact: { messageIdPrefix: 'tck-artifact-text' },
    message: { messageIdPrefix: 'tck-message-response' },
    inputRequired: { messageIdPrefix: 'tck-input-required' },
    authRequired: { messageIdPrefix: 'tck-auth-required' },
    slow: { messageIdPrefix: 'test-resubscribe-message-id' },
    stream: { messageIdPrefix: 'tck-stream-001' },
  },
}

/** For the demo agent `rehearsal` of a Parley hub, which reacts to the first word of the text. */
const parleyDemo: Profile = {
  name: 'parley-demo',
  text: 'Hello',
  messages: {
    artifact: { text: 'files' },
    message: { text: 'reply' },
    inputRequired: { text: 'ask' },
    authRequired: { text: 'auth' },
    slow: { text: 'work 1' },
    reject: { text: 'reject' },
    fail: { text: 'fail' },
    stream: { text: 'files' },
  },
  accepted: {
    'version.missing-is-not-1.0':
      'Parley decides by the name of the method if A2A-Version is missing (rule B-10); `strict: true` follows the text',
  },
}

/** By name. */
export const builtInProfiles: Readonly<Record<string, Profile>> = { tck, 'parley-demo': parleyDemo }

/** What is wrong with a profile, and what would be right. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** Reads a profile. Throws a `ProfileError` that names the field; `source` is what it calls the text. */
export function parseProfile(text: string, source: string): Profile {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch (reason) {
    throw new ProfileError(`${source} is not JSON: ${reason instanceof Error ? reason.message : String(reason)}`)
  }
  const wrong = (field: string, expected: string): Error => new ProfileError(`${source}: ${field} must be ${expected}.`)
  if (!isObject(json)) throw wrong('the profile', 'an object')
  const { name, text: ordinary, messages = {}, otherCaller, accepted = {}, ...others } = json
  const [unknown] = Object.keys(others)
  if (unknown !== undefined)
    throw new ProfileError(
      `${source}: there is no field ${unknown}.`,
      'Fields: name, text, messages, otherCaller, accepted.',
    )
  if (!isObject(messages)) throw wrong('messages', 'an object')
  if (!isTextMap(accepted)) throw wrong('accepted', 'an object of reasons by the id of a check')
  if (otherCaller !== undefined && !(isObject(otherCaller) && isTextMap(otherCaller['headers'])))
    throw wrong('otherCaller.headers', 'an object of texts')
  return {
    ...(typeof name === 'string' ? { name } : {}),
    ...(typeof ordinary === 'string' ? { text: ordinary } : {}),
    messages: Object.fromEntries(
      Object.entries(messages).map(([scenario, hint]) => [scenario, parseHint(scenario, hint, source)]),
    ),
    ...(otherCaller === undefined
      ? {}
      : { otherCaller: otherCaller as unknown as NonNullable<Profile['otherCaller']> }),
    accepted,
  }
}

/** A hint is a text, or an object. */
function parseHint(scenario: string, hint: unknown, source: string): MessageHint {
  if (!(scenarios as readonly string[]).includes(scenario)) {
    throw new ProfileError(`${source}: there is no scenario ${scenario}.`, `Scenarios: ${scenarios.join(', ')}.`)
  }
  if (typeof hint === 'string') return { text: hint }
  const fields = ['text', 'parts', 'messageIdPrefix', 'metadata']
  if (!isObject(hint) || Object.keys(hint).some((field) => !fields.includes(field))) {
    throw new ProfileError(`${source}: messages.${scenario} must be a text, or an object with ${fields.join(', ')}.`)
  }
  return hint
}

const isTextMap = (value: unknown): value is Readonly<Record<string, string>> =>
  isObject(value) && Object.values(value).every((item) => typeof item === 'string')
