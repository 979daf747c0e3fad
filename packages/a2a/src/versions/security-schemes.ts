/**
 * Security schemes in both forms: 1.0 distinguishes them by the member's name, 0.x by `type`. A merged card carries both forms
 * in one object; then the newer one counts.
 */
import { isStruct } from '../model/struct.ts'
import type { AgentCard, OAuthFlows, SecurityRequirement, SecurityScheme } from '../model/card.ts'
import { addViolation, flag, map, nonEmptyText, text, optionalText, type FieldReader } from './read.ts'
import { required, shape } from './shape.ts'

type Of<M extends string> = SecurityScheme extends infer S ? (S extends Record<M, infer V> ? V : never) : never

const url = required(nonEmptyText, { fallback: '' })
const flowFields = { tokenUrl: url, refreshUrl: optionalText, scopes: required(map(text), { fallback: {} }) }
const { tokenUrl: _none, ...implicitFields } = { ...flowFields, authorizationUrl: url }

const flows: FieldReader<OAuthFlows> = shape<OAuthFlows>({
  authorizationCode: shape<NonNullable<OAuthFlows['authorizationCode']>>({
    ...flowFields,
    authorizationUrl: url,
    pkceRequired: flag,
  }),
  clientCredentials: shape<NonNullable<OAuthFlows['clientCredentials']>>(flowFields),
  deviceCode: shape<NonNullable<OAuthFlows['deviceCode']>>({ ...flowFields, deviceAuthorizationUrl: url }),
  implicit: shape<NonNullable<OAuthFlows['implicit']>>(implicitFields),
  password: shape<NonNullable<OAuthFlows['password']>>(flowFields),
})

const location: FieldReader<'query' | 'header' | 'cookie'> = (reader, value) =>
  value === 'query' || value === 'header' || value === 'cookie'
    ? value
    : addViolation(reader, 'must be query, header or cookie')

const members: { readonly [member: string]: FieldReader<unknown> } = {
  apiKeySecurityScheme: shape<Of<'apiKeySecurityScheme'>>({
    description: optionalText,
    location: required(location, { names: ['location', 'in'] }),
    name: required(nonEmptyText),
  }),
  httpAuthSecurityScheme: shape<Of<'httpAuthSecurityScheme'>>({
    description: optionalText,
    scheme: required(nonEmptyText),
    bearerFormat: optionalText,
  }),
  oauth2SecurityScheme: shape<Of<'oauth2SecurityScheme'>>({
    description: optionalText,
    flows: required(flows, { fallback: {} }),
    oauth2MetadataUrl: optionalText,
  }),
  openIdConnectSecurityScheme: shape<Of<'openIdConnectSecurityScheme'>>({
    description: optionalText,
    openIdConnectUrl: required(nonEmptyText),
  }),
  mtlsSecurityScheme: shape<Of<'mtlsSecurityScheme'>>({ description: optionalText }),
}

/** The `type` of 0.x for each member of 1.0. */
const types = new Map<unknown, string>([
  ['apiKey', 'apiKeySecurityScheme'],
  ['http', 'httpAuthSecurityScheme'],
  ['oauth2', 'oauth2SecurityScheme'],
  ['openIdConnect', 'openIdConnectSecurityScheme'],
  ['mutualTLS', 'mtlsSecurityScheme'],
])

const snakeMembers = new Map(
  Object.keys(members).flatMap((member) => [
    [member, member],
    [member.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), member],
  ]),
)

const scheme: FieldReader<SecurityScheme> = (reader, value) => {
  if (!isStruct(value)) return addViolation(reader, 'must be an object')
  for (const key of Object.keys(value)) {
    const member = snakeMembers.get(key)
    if (member === undefined || !isStruct(value[key])) continue
    const read = members[member]?.(reader, value[key])
    return read === undefined ? undefined : ({ [member]: read } as unknown as SecurityScheme)
  }
  const member = types.get(value['type'])
  // An unknown scheme cannot be used, but is no reason to refuse the card.
  if (member === undefined) return reader.forgiving ? undefined : addViolation(reader, 'is of an unknown kind')
  const read = members[member]?.(reader, value)
  return read === undefined ? undefined : ({ [member]: read } as unknown as SecurityScheme)
}

export const securitySchemes = map(scheme)

/**
 * 1.0 allows one flow per scheme, 0.x several: such a scheme becomes several, `name`, `name_2`…, and each requirement for it
 * becomes one alternative per flow.
 */
export function splitFlows(card: AgentCard): AgentCard {
  const parts = new Map<string, readonly string[]>()
  const schemes: [string, SecurityScheme][] = []
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    const oauth2 = 'oauth2SecurityScheme' in scheme ? scheme.oauth2SecurityScheme : undefined
    const each: [string, unknown][] = oauth2 === undefined ? [] : Object.entries(oauth2.flows)
    if (oauth2 === undefined || each.length < 2) {
      schemes.push([name, scheme])
      continue
    }
    const names = each.map((_, index) => (index === 0 ? name : `${name}_${index + 1}`))
    parts.set(name, names)
    for (const [index, [flow, details]] of each.entries()) {
      schemes.push([names[index] ?? name, { oauth2SecurityScheme: { ...oauth2, flows: { [flow]: details } } }])
    }
  }
  if (parts.size === 0) return card
  const spread = (given: readonly SecurityRequirement[]): SecurityRequirement[] =>
    given.flatMap((requirement) => alternatives(requirement, parts))
  return {
    ...card,
    securitySchemes: Object.fromEntries(schemes),
    ...(card.securityRequirements && { securityRequirements: spread(card.securityRequirements) }),
    skills: card.skills.map((skill) =>
      skill.securityRequirements === undefined
        ? skill
        : { ...skill, securityRequirements: spread(skill.securityRequirements) },
    ),
  }
}

function alternatives(
  requirement: SecurityRequirement,
  parts: ReadonlyMap<string, readonly string[]>,
): SecurityRequirement[] {
  let found: [string, { readonly list: readonly string[] }][][] = [[]]
  for (const [name, scopes] of Object.entries(requirement.schemes)) {
    const names = parts.get(name) ?? [name]
    found = found.flatMap((chosen) => names.map((one) => [...chosen, [one, scopes] as (typeof chosen)[number]]))
  }
  return found.map((chosen) => ({ schemes: Object.fromEntries(chosen) }))
}
