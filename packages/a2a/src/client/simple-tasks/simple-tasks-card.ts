/** Cards that list no interface: such a peer serves simple tasks beside its card (S0-4). */
import type { AgentCard, AgentInterface } from '../../model/card.ts'
import type { Operation } from '../../model/operation.ts'
import { simpleTasksBindingUri } from '../http/http-url.ts'
import { cardSourceOf } from '../card/card-source.ts'
import type { ChosenInterface } from '../contract.ts'

/** Any other document with a name and a version is not an agent card. */
const cardPathPattern = /\/\.well-known\/agent(-card)?\.json$/
const interfaceFields = ['supportedInterfaces', 'supported_interfaces', 'additionalInterfaces', 'url']

/** The document with simple tasks as its interface, if it was found at a card path and lists no interface. */
export function withSimpleTasksInterface(document: unknown, from: URL): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const fields = document as Readonly<Record<string, unknown>>
  const lists = (name: string): boolean => {
    const value = fields[name] ?? ''
    return Array.isArray(value) ? value.length > 0 : value !== ''
  }
  if (!cardPathPattern.test(from.pathname) || interfaceFields.some(lists)) return document
  return { ...fields, supportedInterfaces: [simpleTasksInterface(baseOfCard(from))] }
}

export const simpleTasksInterface = (url: string): AgentInterface => ({
  url,
  protocolBinding: simpleTasksBindingUri,
  protocolVersion: '0.2',
})

const baseOfCard = ({ origin, pathname }: URL): string => origin + pathname.replace(/(\/\.well-known\/[^/]*)?\/*$/, '')

/** Peers from before 0.2 have a URL on their cards that serves no A2A. */
export function guessSimpleTasksInterface(
  { version, url }: ChosenInterface,
  operation: Operation,
  card: AgentCard | undefined,
): readonly ChosenInterface[] {
  if (card === undefined || version === '1.0' || !operation.startsWith('Send')) return []
  const from = cardSourceOf(card)?.from
  const why = `its card declares A2A ${version} at ${url}, where none is served; trying it as a peer with simple tasks`
  return [{ ...simpleTasksInterface(from === undefined ? url : baseOfCard(from)), version: '0.2', why }]
}
