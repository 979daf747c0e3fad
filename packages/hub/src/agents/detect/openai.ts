/** Detects an endpoint with the OpenAI API by its list of models. No model is called. */
import {
  targetUrl,
  isHttpUrl,
  urlWithoutQuery,
  createTimeLimit,
  agentNameFrom,
  type DetectorResult,
  type Detector,
} from './detect.ts'
import { requiresAuthentication } from './diagnosis.ts'
import { parseJsonOrUndefined } from '../../json/embedded-json.ts'

/** Models that do not support chat, by their usual names. */
const nonChatModels = /embed|rerank|whisper|tts|audio|dall|image|moderation|transcri|speech|realtime|guard/i
/** Maximum number of models in a note. */
const maxListedModels = 8

export function openaiDetector(limitMs: number): Detector {
  return {
    kind: 'openai',
    applies(target) {
      const url = targetUrl(target)
      return url !== undefined && isHttpUrl(url)
    },
    async detect(target, { fetch, signal, token }) {
      const limit = createTimeLimit(limitMs, signal)
      const bases = candidateBaseUrls(targetUrl(target) as URL)
      const reasons: string[] = []
      let refusal: number | undefined
      try {
        for (const baseUrl of bases) {
          const answer = await getJson(fetch, `${baseUrl}/models`, { signal: limit.signal, token: token?.value })
          const models = modelsIn(answer.body)
          if (answer.status === 200 && models.length > 0) return detectionOf(baseUrl, models, token?.reference)
          if (answer.status === 401 || answer.status === 403) refusal ??= answer.status
          reasons.push(rejectionReason(`${new URL(baseUrl).pathname.replace(/\/$/, '')}/models`, answer.status))
        }
        const diagnosis = refusal === undefined ? undefined : requiresAuthentication(refusal)
        return { reasons: [...new Set(reasons)], diagnosis }
      } catch (reason) {
        return { reasons: [limit.reasonFor(reason)], diagnosis: limit.diagnosis }
      }
    },
  }
}

/** The address may be that of the models, the chat endpoint, the API or the server. */
function candidateBaseUrls(url: URL): readonly string[] {
  const base = urlWithoutQuery(url).replace(/\/(models|chat\/completions|completions|responses)$/, '')
  return /\/v\d+$/.test(base) ? [base] : [`${base}/v1`, base]
}

function modelsIn(body: unknown): readonly string[] {
  const listed = Array.isArray(body) ? body : (body as { data?: unknown } | null | undefined)?.data
  if (!Array.isArray(listed)) return []
  return (listed as unknown[])
    .map((one) => (one as { id?: unknown } | null)?.id)
    .filter((id): id is string => typeof id === 'string' && id !== '')
}

function detectionOf(baseUrl: string, models: readonly string[], reference: string | undefined): DetectorResult {
  const model = models.find((one) => !nonChatModels.test(one)) ?? models[0]
  const rest = models.filter((one) => one !== model)
  const named = rest.slice(0, maxListedModels).join(', ') + (rest.length > maxListedModels ? ' and more' : '')
  return {
    kind: 'openai',
    name: agentNameFrom(model),
    entry: { baseUrl, model, ...(reference !== undefined ? { apiKey: reference } : {}) },
    notes: rest.length > 0 ? [`Using ${model}. Also available: ${named}; change \`model\` to use another.`] : [],
  }
}

function rejectionReason(path: string, status: number): string {
  if (status === 401 || status === 403) return `${path} requires credentials (${status})`
  return status === 200 ? `${path} lists no models` : `${path} does not exist (${status})`
}

interface JsonResponse {
  readonly status: number
  /** Undefined if the body is not JSON. */
  readonly body: unknown
}

const limitBytes = 2_000_000

/** Fetches a JSON document with a size limit. */
async function getJson(
  fetch: typeof globalThis.fetch,
  url: string,
  { signal, token }: { readonly signal: AbortSignal; readonly token?: string | undefined },
): Promise<JsonResponse> {
  const headers = { accept: 'application/json', ...(token !== undefined ? { authorization: `Bearer ${token}` } : {}) }
  // A redirect would send the token to another server.
  const response = await fetch(url, { headers, signal, redirect: token === undefined ? 'follow' : 'error' })
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > limitBytes) throw new Error(`its response exceeds ${limitBytes} bytes`)
    chunks.push(chunk)
  }
  return { status: response.status, body: parseJsonOrUndefined(Buffer.concat(chunks).toString('utf8')) }
}
