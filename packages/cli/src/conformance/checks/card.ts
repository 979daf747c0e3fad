/** The agent card: whether it is there, well-formed and cacheable. */
import { fail, notApplicable, pass, undecided, type Check } from '../check.ts'
import { cardPath } from '../discover.ts'
import { isObject } from '../wire/encode-request.ts'
import {
  cardViolations,
  interfaceViolations,
  objectsOf,
  requiredSchemeNames,
  securityViolations,
  snakeCaseFields,
} from './card-shape.ts'
import { allVersions, v1 } from './scope.ts'

const onCards = { versions: allVersions, sends: false } as const

export const cardChecks: readonly Check[] = [
  {
    ...onCards,
    id: 'card.available',
    rules: ['B-14', 'B-15'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §8.1, §8.2', '0.3': 'A2A 0.3 §5.1, §5.3', '0.2': 'A2A 0.2 §5.1, §5.3' },
    title: 'The agent serves its card as a JSON document',
    async run({ discovery }) {
      if (discovery.cards.length > 0) return pass(discovery.cards[0]?.url)
      const [attempt] = discovery.attempts
      return fail(
        `no card at ${attempt?.request.line ?? discovery.url}: HTTP ${attempt?.status ?? 'no response'}`,
        attempt,
      )
    },
  },
  {
    ...onCards,
    id: 'card.media-type',
    rules: ['B-15'],
    level: 'info',
    section: {
      '1.0': 'A2A 1.0 §8.2 names no media type',
      '0.3': 'A2A 0.3 §5.1: a JSON document',
      '0.2': 'A2A 0.2 §5.1: a JSON document',
    },
    title: 'The card has a JSON media type',
    async run({ card }) {
      const type = card.exchange.headers['content-type'] ?? ''
      return /^application\/(\w+\+)?json\b/i.test(type)
        ? pass()
        : fail(`Content-Type is ${type === '' ? 'missing' : type}`, card)
    },
  },
  {
    ...onCards,
    id: 'card.required-fields',
    rules: ['B-15', 'B-26'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.4.1, §5.7', '0.3': 'A2A 0.3 §5.5, §11.1.1', '0.2': 'A2A 0.2 §5.5' },
    title: 'The card has every required field, in its type',
    async run({ card, version }) {
      const found = cardViolations(card.json, version)
      return found.length === 0 ? pass() : fail(found.join('; '), card)
    },
  },
  {
    ...onCards,
    id: 'card.interfaces',
    rules: ['B-16', 'B-19'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.4.6, §8.3.1', '0.3': 'A2A 0.3 §5.6.1, §5.6.4', '0.2': 'A2A 0.2 §5.5.5' },
    title: 'Each interface has an absolute address and a binding, and in 1.0 a version',
    async run({ card, version }) {
      const found = interfaceViolations(card.json, version)
      return found.length === 0 ? pass() : fail(found.join('; '), card)
    },
  },
  {
    ...onCards,
    versions: ['0.3'],
    id: 'card.main-interface-listed',
    rules: ['B-19'],
    level: 'should',
    section: 'A2A 0.3 §5.6.4',
    title: 'Additional interfaces include the main URL with its transport',
    async run({ card: { json, exchange } }) {
      const listed = objectsOf(json['additionalInterfaces'])
      if (listed.length === 0) return pass('there are no additional interfaces')
      const has = listed.some(({ url, transport }) => url === json['url'] && transport === json['preferredTransport'])
      return has ? pass() : fail('no entry has the main url and the preferredTransport', exchange)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.version-without-patch',
    rules: ['B-4'],
    level: 'should',
    section: 'A2A 1.0 §3.6',
    title: 'Interfaces name their version as Major.Minor, without a patch number',
    async run({ card }) {
      const wrong = objectsOf(card.json['supportedInterfaces'])
        .map(({ protocolVersion }) => protocolVersion)
        .filter((version) => typeof version === 'string' && !/^\d+\.\d+$/.test(version))
      return wrong.length === 0 ? pass() : fail(`protocolVersion is ${wrong.join(', ')}`, card)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.camel-case',
    rules: ['J-1'],
    level: 'must',
    section: 'A2A 1.0 §5.5',
    title: 'The fields of the card are named in lowerCamelCase',
    async run({ card }) {
      const found = snakeCaseFields(card.json)
      return found.length === 0 ? pass() : fail(`in snake_case: ${found.slice(0, 10).join(', ')}`, card)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.filled-lists',
    rules: ['J-9'],
    level: 'info',
    section: 'A2A 1.0 §5.7 requires an element in required lists; the example of §8.4.1 has no skills',
    title: 'The required lists of the card are not empty',
    async run({ card }) {
      const empty = ['supportedInterfaces', 'defaultInputModes', 'defaultOutputModes', 'skills'].filter((name) => {
        const list = card.json[name]
        return Array.isArray(list) && list.length === 0
      })
      return empty.length === 0 ? pass() : fail(`empty: ${empty.join(', ')}`, card)
    },
  },
  {
    ...onCards,
    id: 'card.security-schemes',
    rules: ['B-150'],
    level: 'must',
    section: { '1.0': 'A2A 1.0 §4.5', '0.3': 'A2A 0.3 §5.5.3', '0.2': 'A2A 0.2 §5.5.3' },
    title: 'Each security scheme is of one kind and has its required fields',
    async run({ card, version }) {
      if (!isObject(card.json['securitySchemes'])) return pass('the card declares no security schemes')
      const found = securityViolations(card.json, version)
      return found.length === 0 ? pass() : fail(found.join('; '), card)
    },
  },
  {
    ...onCards,
    id: 'card.security-names',
    rules: ['B-150'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §4.4.1 does not spell it out', '0.3': 'A2A 0.3 §5.5', '0.2': 'A2A 0.2 §5.5' },
    title: 'Security requirements name schemes that the card declares',
    async run({ card }) {
      const declared = isObject(card.json['securitySchemes']) ? Object.keys(card.json['securitySchemes']) : []
      const unknown = requiredSchemeNames(card.json).filter((name) => !declared.includes(name))
      return unknown.length === 0 ? pass() : fail(`not declared: ${unknown.join(', ')}`, card)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.signatures',
    rules: ['B-29', 'B-30'],
    level: 'must',
    section: 'A2A 1.0 §8.4.2',
    title: 'Each signature has a protected header with alg and kid, and a value in base64url',
    async run({ card }) {
      const signatures = objectsOf(card.json['signatures'])
      if (signatures.length === 0) return notApplicable('the card is not signed')
      const wrong = signatures.flatMap((signature, index) => signatureViolations(signature, index))
      return wrong.length === 0 ? pass() : fail(wrong.join('; '), card)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.cache-control',
    rules: ['B-21'],
    level: 'should',
    section: 'A2A 1.0 §8.6.1',
    title: 'The card has Cache-Control with max-age',
    async run({ card }) {
      const value = card.exchange.headers['cache-control']
      return /\bmax-age=\d+/.test(value ?? '') ? pass() : fail(`Cache-Control is ${value ?? 'missing'}`, card)
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.etag',
    rules: ['B-21'],
    level: 'should',
    section: 'A2A 1.0 §8.6.1',
    title: 'The card has an ETag',
    async run({ card }) {
      return card.exchange.headers['etag'] === undefined ? fail('there is no ETag', card) : pass()
    },
  },
  {
    ...onCards,
    versions: v1,
    id: 'card.not-modified',
    rules: ['B-23'],
    level: 'info',
    section: 'A2A 1.0 §8.6.2 has clients revalidate; RFC 9110 §13 has the response',
    title: 'A card that was not modified is answered with 304',
    async run(subject) {
      const { card } = subject
      const etag = card.exchange.headers['etag']
      if (etag === undefined) return undecided('the card has no ETag')
      const headers = {
        'if-none-match': etag,
        ...(card.requestedVersion === undefined ? { 'a2a-version': undefined } : {}),
      }
      const again = await subject.get(card.url, headers)
      return again.status === 304 ? pass() : fail(`If-None-Match with its ETag is answered with ${again.status}`, again)
    },
  },
  {
    ...onCards,
    versions: ['1.0', '0.3'],
    id: 'card.well-known-path',
    rules: ['B-14'],
    level: 'info',
    section: { '1.0': 'A2A 1.0 §8.2, §14.3', '0.3': 'A2A 0.3 §5.3 recommends it' },
    title: 'The card is under the well-known path of its host',
    async run(subject) {
      const { origin } = new URL(subject.card.url)
      const found = await subject.get(`${origin}${cardPath}`, {})
      return found.status === 200 ? pass() : fail(`GET ${cardPath} is answered with ${found.status}`, found)
    },
  },
]

function signatureViolations(signature: Readonly<Record<string, unknown>>, index: number): readonly string[] {
  const at = `signatures[${index}]`
  const { protected: header, signature: value } = signature
  if (typeof header !== 'string' || typeof value !== 'string') return [`${at} has no protected or no signature`]
  const found = /^[A-Za-z0-9_-]+$/.test(value) ? [] : [`${at}.signature is not base64url`]
  try {
    const decoded = JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as unknown
    const missing = ['alg', 'kid'].filter((name) => !isObject(decoded) || typeof decoded[name] !== 'string')
    return [...found, ...missing.map((name) => `${at}.protected has no ${name}`)]
  } catch {
    return [...found, `${at}.protected is no JSON in base64url`]
  }
}
