/**
 * Whether the hub answers: `node healthcheck.mjs [url]`. The image has no curl. Default: this container, on PORT or 3000, or what
 * PARLEY_HEALTH_URL names, such as https://127.0.0.1:3000/healthz for a hub with `listen.tls`.
 */
const own = process.env.PARLEY_HEALTH_URL ?? `http://127.0.0.1:${process.env.PORT || 3000}/healthz`
const url = process.argv[2] ?? own
// The certificate is of the public name.
if (url.startsWith('https://127.0.0.1:')) process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
try {
  const response = await fetch(url, { signal: AbortSignal.timeout(5_000) })
  if (!response.ok) throw new Error(`${url} answered with ${response.status}: ${await response.text()}`)
} catch (error) {
  console.error(String(error.cause ?? error))
  process.exit(1)
}
