/** What `npm audit --json` prints: a report, or the reason why there is none. */
export type Advisories =
  | { readonly answered: true; readonly found: readonly string[] }
  | { readonly answered: false; readonly reason: string }

interface AuditReport {
  readonly message?: string
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity?: string; readonly range?: string }>>
}

export function readAdvisories(stdout: string): Advisories {
  let report: AuditReport
  try {
    report = JSON.parse(stdout) as AuditReport
  } catch {
    return { answered: false, reason: 'no report' }
  }
  if (report.vulnerabilities === undefined) {
    // Without the address: it may name a private mirror.
    const status = /\b[45]\d\d [A-Z][A-Za-z ]+/.exec(report.message ?? '')?.[0].trim()
    return { answered: false, reason: status ?? 'no report' }
  }
  const found = Object.entries(report.vulnerabilities).map(
    ([name, { severity = 'unknown', range = '' }]) => `${name} ${range}: ${severity}`,
  )
  return { answered: true, found }
}
