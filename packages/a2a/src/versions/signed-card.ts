/**
 * The bytes of a card that a signature covers (§1.6, B-30): its 1.0 fields only, without `signatures`, each kept or dropped by
 * the presence rules of proto3, in canonical JSON. A document that also holds the fields of 0.x is thereby signed and verified
 * by its 1.0 view.
 */
import { isStruct } from '../model/struct.ts'
import { forCardTexts, type AgentCard } from '../model/card.ts'
import { canonicalJson } from './canonical-json.ts'
import type { JsonRecord } from './read.ts'
import { encodeCard } from './v1_0/card.ts'

/** `required` is always kept, `explicit` if it was set, `implicit` unless it holds its default. */
type Presence = 'required' | 'explicit' | 'implicit'
type SignedShape = Message | 'value' | { readonly map: Message | 'value' }
interface Field {
  readonly presence: Presence
  readonly shape: SignedShape
}
interface Message {
  readonly fields: { readonly [name: string]: Field }
}

const field =
  (presence: Presence) =>
  (shape: SignedShape = 'value'): Field => ({ presence, shape })
const required = field('required')
const explicit = field('explicit')
const implicit = field('implicit')
const message = (fields: Message['fields']): Message => ({ fields })
/** Exactly one member is set, and it is significant even if it is empty. */
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
  ...forCardTexts(explicit()),
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
})

/** The part of a card document that a signature covers, as a document of its own. */
export function signedView(document: JsonRecord): JsonRecord {
  return signedValue(document, card) as JsonRecord
}

/** The text to sign for a card of ours. */
export function signedText(given: AgentCard): string {
  return canonicalJson(signedView(encodeCard(given)))
}

/** How signers convert a card to bytes. */
export type SignedForm = 'canonical' | 'stripped' | 'raw'

export interface SignedReading {
  readonly form: SignedForm
  readonly text: string
  /** The part of the document that the text covers: only this may be trusted if the signature is valid. */
  readonly covered: JsonRecord
}

/**
 * The readings under which a third party's signature may be valid: by the specification; as published SDKs sign, which strip
 * every empty value whether required or not; and as signers do that sign their document unchanged.
 */
export function signedReadings(document: JsonRecord): readonly SignedReading[] {
  const view = signedView(document)
  const { signatures: _, ...raw } = document
  const stripped = strip(view) as JsonRecord | undefined
  const readings: readonly [SignedForm, JsonRecord][] = [
    ['canonical', view],
    ['stripped', stripped ?? {}],
    ['raw', raw],
  ]
  const made = readings.map(([form, covered]) => ({ form, covered, text: canonicalJson(covered) }))
  return made.filter(({ text }, index) => made.findIndex((other) => other.text === text) === index)
}

function signedValue(value: unknown, shape: SignedShape): unknown {
  if (shape === 'value') return value
  if (Array.isArray(value)) return value.map((item) => signedValue(item, shape))
  if (!isStruct(value)) return value
  const kept: [string, unknown][] = []
  if ('map' in shape) {
    // A key is significant even if its value is empty.
    for (const key of Object.keys(value)) kept.push([key, signedValue(value[key], shape.map)])
  } else {
    for (const [name, { presence, shape: inner }] of Object.entries(shape.fields)) {
      if (!Object.hasOwn(value, name) || value[name] === null || value[name] === undefined) continue
      const view = signedValue(value[name], inner)
      if (presence !== 'implicit' || !isDefault(view)) kept.push([name, view])
    }
  }
  return Object.fromEntries(kept)
}

function isDefault(value: unknown): boolean {
  if (value === '' || value === false || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return isStruct(value) && Object.keys(value).length === 0
}

/** `undefined` for a value that is empty, or becomes empty. */
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
