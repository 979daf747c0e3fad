/** Replaces what differs from run to run by names: ids in the order of their appearance, ports, times, signatures, keys. */

/** Texts with their names, such as ports and keys. */
export type KnownTexts = ReadonlyMap<string, string>

export function createNormalizer(known: KnownTexts): (line: string) => string {
  const ids = new Map<string, string>()
  const nameOf = (id: string, kind: string): string => {
    const name = ids.get(id) ?? `<${kind} ${[...ids.values()].filter((one) => one.startsWith(`<${kind} `)).length + 1}>`
    ids.set(id, name)
    return name
  }
  return (line) => {
    let text = line
    for (const [from, to] of known) text = text.replaceAll(from, to)
    return text
      .replaceAll(/"(nextPageToken|pageToken)":"([^"]+)"/g, (_, name, token) => `"${name}":"${nameOf(token, 'page')}"`)
      .replaceAll(/pageToken=([^&" ]+)/g, (_, token) => `pageToken=${nameOf(decodeURIComponent(token), 'page')}`)
      .replaceAll(/\b[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}\b/g, (id) => nameOf(id, 'id'))
      .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>')
      .replaceAll(/\b[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d GMT/g, '<date>')
      .replaceAll(/"(protected|signature|kid|x|y)":"(hop\.)?[\w-]{43,}"/g, '"$1":"$2<$1>"')
      .replace(/(traceparent"?: ?"?00)-[\da-f]{32}-[\da-f]{16}-/, '$1-<trace>-<span>-')
      .replaceAll(/(.)\1{999,}/g, (run, one) => `<${run.length} × ${one}>`)
      .replace(/^(etag|if-none-match): .*/, '$1: <etag>')
      .replace(/^(retry-after|x-ratelimit-reset): \d+/, '$1: <seconds>')
      .replaceAll(/"retryDelay":"[\d.]+s"/g, '"retryDelay":"<seconds>"')
      .replaceAll(/"retryAfterSeconds":"?\d+"?/g, '"retryAfterSeconds":"<seconds>"')
  }
}
