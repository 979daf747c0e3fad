/** The address that a target is, if it is one. */
import type { Target } from './detect.ts'

export function addressIn([first, ...others]: Target): URL | undefined {
  const isAddress = others.length === 0 && /^(https?|wss?):\/\//i.test(first) && URL.canParse(first)
  return isAddress ? new URL(first) : undefined
}

/** As people write it: without a slash, or what follows a question mark, at its end. */
export function written(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

export const isHttp = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'
