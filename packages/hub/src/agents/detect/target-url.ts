/** The URL of a target, if it is one. */
import type { DetectTarget } from './detect.ts'

export function targetUrl([first, ...others]: DetectTarget): URL | undefined {
  const isAddress = others.length === 0 && /^(https?|wss?):\/\//i.test(first) && URL.canParse(first)
  return isAddress ? new URL(first) : undefined
}

/** Without the query and without a trailing slash. */
export function urlWithoutQuery(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}

export const isHttpUrl = ({ protocol }: URL): boolean => protocol === 'http:' || protocol === 'https:'
