/** Mutations that make JSON invalid, each at a position chosen by number. Pure. */
import { isJsonObject } from '../answers/shape.ts'

export type Mutation =
  | { readonly kind: 'replace'; readonly at: number; readonly value: unknown }
  | { readonly kind: 'remove'; readonly at: number }
  | { readonly kind: 'add'; readonly at: number; readonly key: string; readonly value: unknown }
  | { readonly kind: 'snake'; readonly at: number }
  | { readonly kind: 'as string'; readonly at: number }
  | { readonly kind: 'wrap'; readonly at: number; readonly key: string | undefined }
  | { readonly kind: 'repeat'; readonly at: number; readonly times: number }

type Place = { readonly parent: Record<string, unknown> | unknown[]; readonly key: string | number }

/** A mutated copy. A mutation that does not fit its position changes nothing. */
export function mutate(payload: unknown, mutations: readonly Mutation[]): unknown {
  const root = { payload: structuredClone(payload) }
  for (const mutation of mutations) {
    const places = placesIn(root)
    const place = places[mutation.at % places.length]
    if (place !== undefined) apply(place, mutation)
  }
  return root.payload
}

function placesIn(root: Record<string, unknown>): Place[] {
  const found: Place[] = []
  const visit = (parent: Place['parent']): void => {
    const keys = Array.isArray(parent) ? parent.keys() : Object.keys(parent)
    for (const key of keys) {
      found.push({ parent, key })
      const value = (parent as Record<string | number, unknown>)[key]
      if (typeof value === 'object' && value !== null) visit(value as Place['parent'])
    }
  }
  visit(root)
  return found
}

function apply({ parent, key }: Place, mutation: Mutation): void {
  const holder = parent as Record<string | number, unknown>
  const value = holder[key]
  switch (mutation.kind) {
    case 'replace':
      holder[key] = structuredClone(mutation.value)
      return
    case 'remove':
      if (Array.isArray(parent)) parent.splice(Number(key), 1)
      else delete holder[key]
      return
    case 'add':
      if (isJsonObject(value)) (value as Record<string, unknown>)[mutation.key] = structuredClone(mutation.value)
      else if (Array.isArray(value)) value.push(structuredClone(mutation.value))
      return
    case 'snake':
      if (Array.isArray(parent)) return
      delete holder[key]
      holder[String(key).replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)] = value
      return
    case 'as string':
      holder[key] = typeof value === 'string' ? Number(value) || 7 : JSON.stringify(value)
      return
    case 'wrap':
      holder[key] = mutation.key === undefined ? [value] : { [mutation.key]: value }
      return
    case 'repeat':
      if (Array.isArray(value) && value.length > 0)
        holder[key] = Array.from({ length: mutation.times }, () => value[0] as unknown)
  }
}

/** Damage to the bytes themselves. */
export interface ByteMutation {
  readonly kind: 'set' | 'insert' | 'drop' | 'cut' | 'double'
  readonly at: number
  readonly byte: number
}

export function mutateBytes(bytes: Uint8Array, mutations: readonly ByteMutation[]): Uint8Array {
  return mutations.reduce((all, { kind, at, byte }) => {
    const place = all.length === 0 ? 0 : at % all.length
    const [before, after] = [all.subarray(0, place), all.subarray(place)]
    if (kind === 'cut') return before
    if (kind === 'double') return Buffer.concat([all, after])
    if (kind === 'insert') return Buffer.concat([before, Uint8Array.of(byte), after])
    return Buffer.concat([before, kind === 'set' ? Uint8Array.of(byte) : new Uint8Array(), after.subarray(1)])
  }, bytes)
}
