/** Why nothing was detected, in one sentence, with what to do about it. */

/** Of several, the first of this list explains the others. */
export const diagnosisCodes = [
  'unauthenticated',
  'module-failed',
  'file-not-found',
  'not-executable',
  'command-not-found',
  'not-listening',
  'host-not-found',
  'untrusted-certificate',
  'no-tls',
  'tls-required',
  'unreachable',
  'timeout',
  'web-page',
  'not-an-agent',
  'unknown',
] as const

export type DiagnosisCode = (typeof diagnosisCodes)[number]

export interface Diagnosis {
  /** For programs. */
  readonly code: DiagnosisCode
  /** What is wrong: `Nothing is listening on port 44998` */
  readonly title: string
  /** What to do. */
  readonly advice: string
  /** The error as it was reported. */
  readonly cause?: string
}

export function mostSpecific(found: readonly (Diagnosis | undefined)[]): Diagnosis {
  for (const code of diagnosisCodes) {
    const match = found.find((one) => one?.code === code)
    if (match !== undefined) return match
  }
  return {
    code: 'unknown',
    title: 'Couldn’t identify this agent',
    advice: 'Check the URL or command, or choose the kind yourself.',
  }
}

export const requiresAuthentication: Diagnosis = {
  code: 'unauthenticated',
  title: 'Requires authentication',
  advice: 'Provide a token (in the terminal: --token-env NAME), then detect again.',
}

export function commandNotFound(program: string): Diagnosis {
  return {
    code: 'command-not-found',
    title: `Command not found: ${program}`,
    advice: 'Check the spelling, or use the full path. Commands run in the config file’s directory.',
  }
}

export function fileNotFound(path: string): Diagnosis {
  return {
    code: 'file-not-found',
    title: `File not found: ${path}`,
    advice: 'Relative paths start at the config file’s directory.',
  }
}

export function notExecutable(path: string): Diagnosis {
  return {
    code: 'not-executable',
    title: `${path} is not executable`,
    advice: `Run chmod +x ${path}, or name the program that runs it.`,
  }
}

export function moduleFailed(path: string, cause: string): Diagnosis {
  return {
    code: 'module-failed',
    title: `${path} failed to load`,
    advice: 'Fix the error in the file, then detect again.',
    cause,
  }
}

export function diagnoseTimeout(ms: number): Diagnosis {
  return {
    code: 'timeout',
    title: `No response within ${ms / 1_000} s`,
    advice: 'The server accepts connections but does not answer. Check its log.',
  }
}
