/** An agent card as text: identity, capabilities, interfaces, security, skills, and the result of the signature check. */
import type { AgentCard, AgentSkill } from '@parley/a2a'
import type { CardSignature } from '@parley/a2a/internal'
import { describeAlternatives, describeScheme } from '../auth/card-schemes.ts'
import { field } from './text.ts'

export function cardText(card: AgentCard, signature: CardSignature, isVerbose: boolean): string {
  const { capabilities, provider, securitySchemes = {}, skills } = card
  const alternatives = describeAlternatives(card)
  return [
    field('Name', card.name),
    field('Description', card.description),
    field('Version', card.version),
    provider === undefined ? '' : field('Provider', [provider.organization, provider.url].filter(Boolean).join(', ')),
    optional('Documentation', card.documentationUrl),
    isVerbose ? optional('Icon', card.iconUrl) : '',
    field('Streaming', yesOrNo(capabilities.streaming)),
    field('Push Notifications', yesOrNo(capabilities.pushNotifications)),
    field('Extended Card', yesOrNo(capabilities.extendedAgentCard)),
    ...(capabilities.extensions ?? []).map(({ uri, required, description }) =>
      field(
        'Extension',
        `${uri}${required === true ? ' (required)' : ''}${isVerbose && description ? ` ${description}` : ''}`,
      ),
    ),
    ...card.supportedInterfaces.map(({ protocolBinding, protocolVersion, url, tenant }) =>
      field(
        'Interface',
        `${protocolBinding} ${protocolVersion} ${url}${tenant === undefined ? '' : ` (tenant ${tenant})`}`,
      ),
    ),
    ...Object.entries(securitySchemes).map(([name, scheme]) =>
      field('Security Scheme', `${name} (${describeScheme(scheme)})`),
    ),
    alternatives.length === 0 ? '' : field('Security', alternatives.join(', or ')),
    field('Input Modes', card.defaultInputModes.join(', ')),
    field('Output Modes', card.defaultOutputModes.join(', ')),
    ...skills.map((skill) => skillText(skill, isVerbose)),
    field('Signature', signatureText(card, signature)),
  ].join('')
}

function skillText(
  { id, name, description, tags, examples, inputModes, outputModes }: AgentSkill,
  isVerbose: boolean,
): string {
  return [
    field('Skill', name === id || name === '' ? id : `${name} (${id})`),
    field('Description', description),
    tags.length === 0 ? '' : field('Tags', tags.join(', ')),
    ...(examples ?? []).map((example) => field('Example', example)),
    isVerbose && inputModes !== undefined ? field('Input Modes', inputModes.join(', ')) : '',
    isVerbose && outputModes !== undefined ? field('Output Modes', outputModes.join(', ')) : '',
  ].join('')
}

export function signatureText({ signatures = [] }: AgentCard, signature: CardSignature): string {
  if (signature.status === 'verified')
    return `verified (key ${signature.kid}, ${signature.alg}, ${signature.keys === 'given' ? 'trusted key' : `from ${signature.keys}`})`
  if (signature.status === 'unverified') return `unverifiable (${signature.why})`
  return signatures.length === 0 ? 'absent' : 'not checked'
}

const yesOrNo = (value: boolean | undefined): string => (value === true ? 'yes' : 'no')

const optional = (label: string, value: string | undefined): string => (value === undefined ? '' : field(label, value))
