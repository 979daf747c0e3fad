/**
 * The full mode of the suite (`PARLEY_FULL=1 npm test -- console`). The quick mode omits what resembles something else: here the
 * pages and versions of a test, in scripts/suites.ts whole tests and files.
 */
export const isFullMode = process.env['PARLEY_FULL'] === '1'
