/** Cards that list no interface: such a peer serves simple tasks beside its card (S0-4). */
import type { AgentCard } from '../model/card.ts'
import { isBag } from '../versions/read.ts'
import { sourceOf } from './card-source.ts'
import { simpleTasksBinding } from './facade-binding.ts'

/** Of what only a card has: another document with a name and a version is no agent. */
const wellKnown = /\/\.well-known\/agent(-card)?\.json$/
const interfaceFields = /^(supported_?interfaces|additional_?interfaces|url)$/i

/** The document with the façade as its interface, if it was found where cards are and lists none. */
export function withFacade(document: unknown, from: URL): unknown {
  if (!isBag(document) || !wellKnown.test(from.pathname)) return document
  const lists = ([field, value]: [string, unknown]): boolean =>
    interfaceFields.test(field) && value !== null && value !== '' && !(Array.isArray(value) && value.length === 0)
  if (Object.entries(document).some(lists)) return document
  const { supported_interfaces: _, ...rest } = document
  return { ...rest, supportedInterfaces: [facadeInterface(baseOf(from))] }
}

/** Beside the card, wherever its main address leads. */
export function facadeUrl(card: AgentCard, otherwise: string): string {
  const from = sourceOf(card)?.from
  return from === undefined ? otherwise : baseOf(from)
}

export function facadeInterface(url: string) {
  return { url, protocolBinding: simpleTasksBinding, protocolVersion: '0.2' }
}

const baseOf = ({ origin, pathname }: URL): string => origin + pathname.replace(/(\/\.well-known\/[^/]*)?\/*$/, '')
