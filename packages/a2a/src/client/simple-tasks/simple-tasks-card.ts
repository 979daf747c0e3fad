/** Cards that list no interface: such a peer serves simple tasks beside its card (S0-4). */
import type { AgentCard, AgentInterface } from '../../model/card.ts'
import type { Operation } from '../../model/operation.ts'
import { simpleTasksBindingUri } from '../http/http-url.ts'
import { cardSourceOf } from '../card/card-source.ts'
import type { ChosenInterface } from '../contract.ts'
import { isLegacyVersion } from '../../versions/version.ts'

/** Any other document with a name and a version is not an agent card. */
const cardPathPattern = /\/\.well-known\/agent(-card)?\.json$/
const interfaceFields = ['supportedInterfaces', 'supported_interfaces', 'additionalInterfaces', 'url']
const protocolFields = /^(protocol_?version|preferred_?transport|(supported|additional)_?interfaces)$/i

/** The document with simple tasks as its interface, if it was found at a card path and lists no interface. */
export function withSimpleTasksInterface(document: unknown, from: URL): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const fields = document as Readonly<Record<string, unknown>>
  const lists = (name: string): boolean => {
    const value = fields[name] ?? ''
    return Array.isArray(value) ? value.length > 0 : value !== ''
  }
  if (!cardPathPattern.test(from.pathname) || interfaceFields.some(lists)) return document
  return { ...fields, supportedInterfaces: [simpleTasksBeside(from)] }
}

/** The same for a card whose document has a `url` and no field that says which protocol is served there; else `undefined`. */
export function asSimpleTasksCard(card: AgentCard): AgentCard | undefined {
  const { document = {}, from } = cardSourceOf(card) ?? {}
  if (from === undefined || Object.keys(document).some((field) => protocolFields.test(field))) return undefined
  return { ...card, supportedInterfaces: [simpleTasksBeside(from)] }
}

/** The interface of a peer that serves simple tasks below `url`. */
export const simpleTasksInterface = (url: string): AgentInterface => ({
  url,
  protocolBinding: simpleTasksBindingUri,
  protocolVersion: '0.2',
})

const simpleTasksBeside = (from: URL): AgentInterface => simpleTasksInterface(baseOfCard(from))

const baseOfCard = ({ origin, pathname }: URL): string => origin + pathname.replace(/(\/\.well-known\/[^/]*)?\/*$/, '')

/** Peers from before 0.2 have a URL on their cards that serves no A2A. */
export function guessSimpleTasksInterface(
  { version, url, protocolBinding }: ChosenInterface,
  operation: Operation,
  card: AgentCard | undefined,
): readonly ChosenInterface[] {
  const isDeclared = protocolBinding === simpleTasksBindingUri
  if (card === undefined || isDeclared || !isLegacyVersion(version) || !operation.startsWith('Send')) return []
  const from = cardSourceOf(card)?.from
  const why = `its card declares A2A ${version} at ${url}, where none is served; trying it as a peer with simple tasks`
  return [{ ...(from === undefined ? simpleTasksInterface(url) : simpleTasksBeside(from)), version: '0.2', why }]
}
