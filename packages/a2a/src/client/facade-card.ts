/** Cards that list no interface: such a peer serves simple tasks beside its card (S0-4). */
import type { AgentCard, AgentInterface } from '../model/card.ts'
import type { Operation } from '../model/operation.ts'
import { simpleTasksBinding } from './address.ts'
import { sourceOf } from './card-source.ts'
import type { ChosenInterface } from './contract.ts'

/** Another document with a name and a version is no card of an agent. */
const isCardPath = /\/\.well-known\/agent(-card)?\.json$/
const interfaceFields = ['supportedInterfaces', 'supported_interfaces', 'additionalInterfaces', 'url']

/** The document with the façade as its interface, if it was found where cards are and lists none. */
export function withFacade(document: unknown, from: URL): unknown {
  if (typeof document !== 'object' || document === null || Array.isArray(document)) return document
  const fields = document as Readonly<Record<string, unknown>>
  const lists = (name: string): boolean => {
    const value = fields[name] ?? ''
    return Array.isArray(value) ? value.length > 0 : value !== ''
  }
  if (!isCardPath.test(from.pathname) || interfaceFields.some(lists)) return document
  return { ...fields, supportedInterfaces: [facadeInterface(baseOfCard(from))] }
}

export const facadeInterface = (url: string): AgentInterface => ({
  url,
  protocolBinding: simpleTasksBinding,
  protocolVersion: '0.2',
})

const baseOfCard = ({ origin, pathname }: URL): string => origin + pathname.replace(/(\/\.well-known\/[^/]*)?\/*$/, '')

/** Peers from before 0.2 have an address on their cards all the same, at which no A2A is served. */
export function guessFacade(
  { version, url }: ChosenInterface,
  operation: Operation,
  card: AgentCard | undefined,
): readonly ChosenInterface[] {
  if (card === undefined || version === '1.0' || !operation.startsWith('Send')) return []
  const from = sourceOf(card)?.from
  const why = `its card declares A2A ${version} at ${url}, where none is served; tried as a peer with simple tasks`
  return [{ ...facadeInterface(from === undefined ? url : baseOfCard(from)), version: '0.2', why }]
}
