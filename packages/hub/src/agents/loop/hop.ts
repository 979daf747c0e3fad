/** How a loop calls another agent: as every agent of the hub does. */
export { hop } from '../../delegation/hop.ts'
