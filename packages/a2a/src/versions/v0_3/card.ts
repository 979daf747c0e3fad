/** The card of 0.x, in the form of its JSON schema and in that of its proto. */
import type { AgentCard, AgentInterface, OAuthFlows, SecurityRequirement, SecurityScheme } from '../../model/card.ts'
import { A2AError } from '../../model/error.ts'
import { copyFields } from '../shape.ts'
import type { LegacyForm } from './form.ts'
import { isLegacyVersion } from '../version.ts'

export interface CardTarget {
  readonly protocolVersion: '0.2.6' | '0.3.0'
  readonly form: LegacyForm
}

export function encodeLegacyCard(card: AgentCard, { protocolVersion, form }: CardTarget): Record<string, unknown> {
  const out: Record<string, unknown> = {
    protocolVersion,
    name: card.name,
    description: card.description,
    ...legacyInterfaces(card, protocolVersion),
  }
  copyFields(out, card, 'provider', 'version', 'documentationUrl', 'iconUrl')
  out['capabilities'] = copyFields(
    {},
    card.capabilities,
    'streaming',
    'pushNotifications',
    'stateTransitionHistory',
    'extensions',
  )
  const schemes = legacySchemes(card)
  const security = (given: readonly SecurityRequirement[]): unknown => writeSecurity(given, schemes, form)
  if (card.securitySchemes !== undefined) {
    out['securitySchemes'] = form === 'json' ? mapValues(schemes, writeScheme) : schemes
  }
  if (card.securityRequirements !== undefined) out['security'] = security(card.securityRequirements)
  copyFields(out, card, 'defaultInputModes', 'defaultOutputModes')
  out['skills'] = card.skills.map((skill) => {
    const { securityRequirements, ...rest } = skill
    return securityRequirements === undefined ? rest : { ...rest, security: security(securityRequirements) }
  })
  if (card.capabilities.extendedAgentCard === true) out['supportsAuthenticatedExtendedCard'] = true
  // Signatures cover only the 1.0 view of the card, so they are left out here.
  return out
}

/** Only interfaces that 0.x peers can call; the main url is the JSON-RPC one, because 0.2 clients support nothing else. */
function legacyInterfaces(card: AgentCard, protocolVersion: string): Record<string, unknown> {
  const interfaces = card.supportedInterfaces.filter(
    ({ protocolVersion: version }) => version === '' || isLegacyVersion(version),
  )
  const main =
    interfaces.find((one) => one.protocolBinding === 'JSONRPC') ??
    (protocolVersion === '0.3.0' ? interfaces[0] : undefined)
  if (main === undefined) {
    throw new A2AError('VERSION_NOT_SUPPORTED', 'This agent offers no interface of this protocol version', {
      supportedVersions: [...new Set(card.supportedInterfaces.map((one) => one.protocolVersion))].join(','),
    })
  }
  const seen = new Set<string>()
  const additional = interfaces.filter(({ url, protocolBinding }) => {
    const key = `${protocolBinding} ${url}`
    return seen.has(key) ? false : seen.add(key)
  })
  return {
    url: main.url,
    preferredTransport: main.protocolBinding,
    additionalInterfaces: additional.map((one: AgentInterface) => ({ url: one.url, transport: one.protocolBinding })),
  }
}

type Schemes = { readonly [name: string]: SecurityScheme }

/** Without what 0.x cannot express: the device code flow, and PKCE. A scheme that has nothing else is left out. */
function legacySchemes(card: AgentCard): Schemes {
  const kept: [string, SecurityScheme][] = []
  for (const [name, scheme] of Object.entries(card.securitySchemes ?? {})) {
    if (!('oauth2SecurityScheme' in scheme)) {
      kept.push([name, scheme])
      continue
    }
    const flows = legacyFlows(scheme.oauth2SecurityScheme.flows)
    if (Object.keys(flows).length > 0) {
      kept.push([name, { oauth2SecurityScheme: { ...scheme.oauth2SecurityScheme, flows } }])
    }
  }
  return Object.fromEntries(kept)
}

function legacyFlows(flows: OAuthFlows): OAuthFlows {
  const { deviceCode: _deviceCode, authorizationCode, ...others } = flows
  if (authorizationCode === undefined) return others
  const { pkceRequired: _pkce, ...code } = authorizationCode
  return { authorizationCode: code, ...others }
}

/** One scheme in the form of 0.x JSON, distinguished by `type`. */
export function writeScheme(scheme: SecurityScheme): Record<string, unknown> {
  if ('apiKeySecurityScheme' in scheme) {
    const { location, ...rest } = scheme.apiKeySecurityScheme
    return { type: 'apiKey', in: location, ...rest }
  }
  if ('httpAuthSecurityScheme' in scheme) return { type: 'http', ...scheme.httpAuthSecurityScheme }
  if ('oauth2SecurityScheme' in scheme) return { type: 'oauth2', ...scheme.oauth2SecurityScheme }
  if ('openIdConnectSecurityScheme' in scheme) return { type: 'openIdConnect', ...scheme.openIdConnectSecurityScheme }
  return { type: 'mutualTLS', ...scheme.mtlsSecurityScheme }
}

/** 0.x clients cannot meet an alternative that requires a scheme which was left out. */
function writeSecurity(given: readonly SecurityRequirement[], schemes: Schemes, form: LegacyForm): unknown {
  const met = given.filter(({ schemes: asked }) => Object.keys(asked).every((name) => Object.hasOwn(schemes, name)))
  return form === 'proto' ? met : met.map(({ schemes: asked }) => mapValues(asked, ({ list }) => list))
}

function mapValues<T, U>(from: { readonly [key: string]: T }, change: (value: T) => U): { [key: string]: U } {
  return Object.fromEntries(Object.entries(from).map(([key, value]) => [key, change(value)]))
}
