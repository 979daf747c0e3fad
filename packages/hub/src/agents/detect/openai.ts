/** An endpoint with the OpenAI API: it lists its models. No model is asked anything. */
import { addressIn, isHttp, written } from './address.ts'
import type { Detected, Detector } from './detect.ts'
import { getJson } from './get-json.ts'
import { nameFrom } from './name.ts'
import { timeLimit } from './time-limit.ts'

/** Models that answer no chat, by what they are usually called. */
const others = /embed|rerank|whisper|tts|audio|dall|image|moderation|transcri|speech|realtime|guard/i
/** How many a note names. */
const most = 8

export function openaiDetector(limitMs: number): Detector {
  return {
    kind: 'openai',
    applies(target) {
      const url = addressIn(target)
      return url !== undefined && isHttp(url)
    },
    async detect(target, { fetch, signal, token }) {
      const limit = timeLimit(limitMs, signal)
      const bases = basesOf(addressIn(target) as URL)
      const reasons: string[] = []
      try {
        for (const baseUrl of bases) {
          const answer = await getJson(fetch, `${baseUrl}/models`, { signal: limit.signal, token: token?.value })
          const models = modelsIn(answer.body)
          if (answer.status === 200 && models.length > 0) return found(baseUrl, models, token?.reference)
          reasons.push(whyNot(`${new URL(baseUrl).pathname.replace(/\/$/, '')}/models`, answer.status))
        }
        return { reasons: [...new Set(reasons)] }
      } catch (reason) {
        return { reasons: [limit.reasonFor(reason)] }
      }
    },
  }
}

/** The address may be that of the models, of the chat, of the API or of the whole server. */
function basesOf(url: URL): readonly string[] {
  const base = written(url).replace(/\/(models|chat\/completions|completions|responses)$/, '')
  return /\/v\d+$/.test(base) ? [base] : [`${base}/v1`, base]
}

function modelsIn(body: unknown): readonly string[] {
  const listed = Array.isArray(body) ? body : (body as { data?: unknown } | null | undefined)?.data
  if (!Array.isArray(listed)) return []
  return (listed as unknown[])
    .map((one) => (one as { id?: unknown } | null)?.id)
    .filter((id): id is string => typeof id === 'string' && id !== '')
}

function found(baseUrl: string, models: readonly string[], reference: string | undefined): Detected {
  const model = models.find((one) => !others.test(one)) ?? models[0]
  const rest = models.filter((one) => one !== model)
  const named = rest.slice(0, most).join(', ') + (rest.length > most ? ' and more' : '')
  return {
    kind: 'openai',
    name: nameFrom(model),
    entry: { baseUrl, model, ...(reference !== undefined ? { apiKey: reference } : {}) },
    notes: rest.length > 0 ? [`${model} will answer. It also has ${named}: change \`model\` if you want another.`] : [],
  }
}

function whyNot(path: string, status: number): string {
  if (status === 401 || status === 403) {
    return `${path} wants credentials (${status}): give the key with --token-env`
  }
  return status === 200 ? `${path} lists no models` : `there is no ${path} (${status})`
}
