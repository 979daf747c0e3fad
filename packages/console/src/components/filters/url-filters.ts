/** The filters that a page holds in its address: a name and a parser each. The address may hold any text; what no parser accepts is not set. */

/** Not set: an empty text, `false` or an empty list. */
type FilterValue = string | boolean | readonly string[]

export interface UrlFilters<F> {
  /** Their names in the address. */
  readonly names: readonly (keyof F & string)[]
  read(query: URLSearchParams): F
  isSet(filters: F): boolean
  /** A link to `path` that keeps these filters of `query`. */
  link(path: string, query: URLSearchParams, also?: Readonly<Record<string, string>>): string
}

type Parsers = Readonly<Record<string, (param: string) => FilterValue>>
type Parsed<P extends Parsers> = { readonly [N in keyof P]: ReturnType<P[N]> }
/** The filters that `urlFilters` reads. */
export type FiltersOf<U> = U extends UrlFilters<infer F> ? F : never

export function urlFilters<P extends Parsers>(parsers: P): UrlFilters<Parsed<P>> {
  const names = Object.keys(parsers) as (keyof P & string)[]
  return {
    names,
    read: (query) =>
      withCustomTime(
        Object.fromEntries(names.map((name) => [name, parsers[name]?.(query.get(name) ?? '')])) as Parsed<P>,
      ),
    isSet: (filters) => Object.keys(setFilters(filters)).length > 0,
    link(path, query, also = {}) {
      const kept = Object.fromEntries(names.map((name) => [name, query.get(name) ?? '']))
      const params = new URLSearchParams(setFilters({ ...kept, ...also }) as Record<string, string>)
      return params.size === 0 ? path : `${path}?${params}`
    },
  }
}

/** The start or the end of a range makes the time a custom one. */
function withCustomTime<F extends object>(filters: F): F {
  const { since = '', until = '' } = filters as { readonly since?: string; readonly until?: string }
  return since === '' && until === '' ? filters : { ...filters, time: 'custom' }
}

export type SetFilters<F> = { readonly [N in keyof F]?: Exclude<F[N], ''> }

/** Only the filters that are set. */
export function setFilters<F extends object>(filters: F): SetFilters<F> {
  const isSet = (value: FilterValue): boolean => (typeof value === 'object' ? value.length > 0 : Boolean(value))
  return Object.fromEntries(Object.entries(filters).filter(([, value]) => isSet(value as FilterValue))) as SetFilters<F>
}

export const parseText = (param: string): string => param.trim().slice(0, 200)

/** ISO 8601, or empty. */
export function parseInstant(param: string): string {
  const at = new Date(param)
  return param === '' || Number.isNaN(at.getTime()) ? '' : at.toISOString()
}

/** One of the values that `options` begin with. */
export const parseOption =
  <V extends string>(options: readonly (readonly [value: V, ...rest: unknown[]])[]) =>
  (param: string): V | '' =>
    options.find(([value]) => value === param)?.[0] ?? ''
