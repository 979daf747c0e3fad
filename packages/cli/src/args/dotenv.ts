/** The lines of a configuration file: `A2ACLI_X=value`, blank lines and `#` comments. Other keys are ignored. */
import { environmentPrefix } from './global-options.ts'

export function parseDotenv(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>()
  for (const line of text.replace(/^\uFEFF/, '').split(/\r?\n/)) {
    const [, key = '', rest = ''] = /^\s*(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(line) ?? []
    if (key.startsWith(environmentPrefix)) values.set(key, unquote(rest.trim()))
  }
  return values
}

/** One layer of quotes is removed. Without quotes a comment may follow the value. */
function unquote(value: string): string {
  const [, quote, inner = ''] = /^(["'])(.*)\1\s*(?:#.*)?$/.exec(value) ?? []
  if (quote !== undefined) return inner
  return value.replace(/(^|\s)#.*$/, '').trimEnd()
}
