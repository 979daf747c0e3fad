/**
 * Which bytes of a card a signature is made over (§1.6, B-30): its 1.0 fields and no others, without `signatures`, each
 * kept or dropped as proto3 has it present or absent, in canonical JSON. A document that also holds the fields of 0.x is
 * thereby signed and verified by its 1.0 view.
 */
import type { AgentCard } from '../model/card.ts'
import { canonicalJson } from './canonical-json.ts'
import { isBag } from './read.ts'
import type { Bag } from './read.ts'
import { encodeCard } from './v1_0/card.ts'

/** `required` is kept whatever it holds, `explicit` if it was set, `implicit` unless it holds its default. */
type Presence = 'required' | 'explicit' | 'implicit'
type Shape = Message | 'value' | { readonly map: Message | 'value' }
interface Field {
  readonly presence: Presence
  readonly shape: Shape
}
interface Message {
  readonly fields: { readonly [name: string]: Field }
}

const field =
  (presence: Presence) =>
  (shape: Shape = 'value'): Field => ({ presence, shape })
const required = field('required')
const explicit = field('explicit')
const implicit = field('implicit')
const message = (fields: Message['fields']): Message => ({ fields })
/** Exactly one is set, and that one says something even if it holds nothing. */
const oneOf = (members: { readonly [name: string]: Message }): Message =>
  message(Object.fromEntries(Object.entries(members).map(([name, member]) => [name, explicit(member)])))

const requirement = message({ schemes: implicit({ map: message({ list: implicit() }) }) })

const tokenFlow = { tokenUrl: required(), refreshUrl: implicit(), scopes: required() }
const flows = oneOf({
  authorizationCode: message({ authorizationUrl: required(), ...tokenFlow, pkceRequired: implicit() }),
  clientCredentials: message(tokenFlow),
  deviceCode: message({ deviceAuthorizationUrl: required(), ...tokenFlow }),
  implicit: message({ authorizationUrl: implicit(), refreshUrl: implicit(), scopes: implicit() }),
  password: message({ tokenUrl: implicit(), refreshUrl: implicit(), scopes: implicit() }),
})

const scheme = oneOf({
  apiKeySecurityScheme: message({ description: implicit(), location: required(), name: required() }),
  httpAuthSecurityScheme: message({ description: implicit(), scheme: required(), bearerFormat: implicit() }),
  oauth2SecurityScheme: message({ description: implicit(), flows: required(flows), oauth2MetadataUrl: implicit() }),
  openIdConnectSecurityScheme: message({ description: implicit(), openIdConnectUrl: required() }),
  mtlsSecurityScheme: message({ description: implicit() }),
})

const card = message({
  name: required(),
  description: required(),
  supportedInterfaces: required(
    message({ url: required(), protocolBinding: required(), tenant: implicit(), protocolVersion: required() }),
  ),
  provider: implicit(message({ url: required(), organization: required() })),
  version: required(),
  documentationUrl: explicit(),
  capabilities: required(
    message({
      streaming: explicit(),
      pushNotifications: explicit(),
      extensions: implicit(
        message({ uri: implicit(), description: implicit(), required: implicit(), params: implicit() }),
      ),
      extendedAgentCard: explicit(),
    }),
  ),
  securitySchemes: implicit({ map: scheme }),
  securityRequirements: implicit(requirement),
  defaultInputModes: required(),
  defaultOutputModes: required(),
  skills: required(
    message({
      id: required(),
      name: required(),
      description: required(),
      tags: required(),
      examples: implicit(),
      inputModes: implicit(),
      outputModes: implicit(),
      securityRequirements: implicit(requirement),
    }),
  ),
  iconUrl: explicit(),
})

/** What a signature of a card document covers, as a document of its own. */
export function signedView(document: Bag): Bag {
  return viewOf(document, card) as Bag
}

/** The text that is signed for a card of ours. */
export function signedText(given: AgentCard): string {
  return canonicalJson(signedView(encodeCard(given)))
}

/** How signers make bytes of a card. */
export type SignedForm = 'canonical' | 'stripped' | 'raw'

export interface SignedReading {
  readonly form: SignedForm
  readonly text: string
  /** What of the document the text covers: only this may be believed if the signature is good. */
  readonly covered: Bag
}

/**
 * The readings under which the signature of a stranger may be good: as the rule has it; as published SDKs have it, which
 * strip every empty value whether required or not; and as those have it who sign their document as it is.
 */
export function signedReadings(document: Bag): readonly SignedReading[] {
  const view = signedView(document)
  const { signatures: _, ...raw } = document
  const stripped = strip(view) as Bag | undefined
  const readings: readonly [SignedForm, Bag][] = [
    ['canonical', view],
    ['stripped', stripped ?? {}],
    ['raw', raw],
  ]
  const made = readings.map(([form, covered]) => ({ form, covered, text: canonicalJson(covered) }))
  return made.filter(({ text }, index) => made.findIndex((other) => other.text === text) === index)
}

function viewOf(value: unknown, shape: Shape): unknown {
  if (shape === 'value') return value
  if (Array.isArray(value)) return value.map((item) => viewOf(item, shape))
  if (!isBag(value)) return value
  const kept: [string, unknown][] = []
  if ('map' in shape) {
    // A key says something by being there.
    for (const key of Object.keys(value)) kept.push([key, viewOf(value[key], shape.map)])
  } else {
    for (const [name, { presence, shape: inner }] of Object.entries(shape.fields)) {
      if (!Object.hasOwn(value, name) || value[name] === null || value[name] === undefined) continue
      const view = viewOf(value[name], inner)
      if (presence !== 'implicit' || !isDefault(view)) kept.push([name, view])
    }
  }
  return Object.fromEntries(kept)
}

function isDefault(value: unknown): boolean {
  if (value === '' || value === false || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return isBag(value) && Object.keys(value).length === 0
}

/** `undefined` for what is empty, or has become so. */
function strip(value: unknown): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (typeof value !== 'object') return value
  if (Array.isArray(value)) {
    const items = value.map(strip).filter((item) => item !== undefined)
    return items.length > 0 ? items : undefined
  }
  const entries = Object.entries(value).map(([key, one]): [string, unknown] => [key, strip(one)])
  const kept = entries.filter(([, one]) => one !== undefined)
  return kept.length > 0 ? Object.fromEntries(kept) : undefined
}
