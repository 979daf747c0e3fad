/**
 * Runs a program of a requirements document unchanged. Its types are removed by transpiling, because parameter
 * properties cannot be stripped; undefined names are injected, as a page or a framework would.
 */
import { runInThisContext } from 'node:vm'
import { transformSync } from 'esbuild'

/** Named as the programs name them. */
export interface ProgramGlobals {
  readonly fetch: typeof fetch
  readonly console: Pick<Console, 'log' | 'warn'>
  readonly generateId?: () => string
  readonly uuidv4?: () => string
  readonly executeClientTool?: (inputRequest: any) => unknown
  readonly streamMessage?: (request: unknown) => AsyncIterable<unknown>
}

/** The declarations of a program by their names. */
export function loadProgram<Name extends string>(
  source: string,
  globals: ProgramGlobals,
  names: readonly Name[],
): Readonly<Record<Name, any>> {
  const { code } = transformSync(source, { loader: 'ts', target: 'node24' })
  const wrapped = `({ ${Object.keys(globals).join(', ')} }) => {\n${code}\nreturn { ${names.join(', ')} }\n}`
  const program = runInThisContext(wrapped, { filename: 'program.js' }) as (given: ProgramGlobals) => Record<Name, any>
  return program(globals)
}

/**
 * The programs fetch from paths and from an example's host, with an example's token or none: all of it is the server at
 * `baseUrl`, with `token`.
 */
export function fetchFrom(baseUrl: string, token: string): typeof fetch {
  return (input, init) => {
    const { pathname, search } = new URL(String(input), baseUrl)
    const headers = new Headers(init?.headers)
    headers.set('authorization', `Bearer ${token}`)
    return fetch(new URL(pathname + search, baseUrl), { ...init, headers })
  }
}

/** Bodies arrive in pieces that end in the middle of lines and characters, as networks deliver them. */
export function splitBody(from: typeof fetch, bytes: number): typeof fetch {
  return async (input, init) => {
    const { status, headers, body } = await from(input, init)
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        for (let at = 0; at < chunk.length; at += bytes) controller.enqueue(chunk.slice(at, at + bytes))
      },
    })
    return new Response(body?.pipeThrough(cut) ?? null, { status, headers })
  }
}

/** The documents of a stream, in order, as they come. */
export async function* framesOf(response: Response): AsyncGenerator<any> {
  let rest = ''
  for await (const text of (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream())) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('data: ')) yield JSON.parse(line.slice(6))
  }
}
