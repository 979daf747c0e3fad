/** The result of one check of `parley doctor`. */
export interface DoctorFinding {
  /** What was checked: `port`, `agent gpt`. */
  readonly check: string
  readonly status: 'ok' | 'warning' | 'failed'
  readonly message: string
  /** How to fix it. */
  readonly remedy?: string
}

export function ok(check: string, message: string): DoctorFinding {
  return { check, status: 'ok', message }
}

export function warning(check: string, message: string, remedy: string): DoctorFinding {
  return { check, status: 'warning', message, remedy }
}

export function failed(check: string, message: string, remedy: string): DoctorFinding {
  return { check, status: 'failed', message, remedy }
}
