import { Alert } from '@hubspot/ui-extensions'
import type { Problem } from './paydirt-client.ts'

export function ProblemView({ problem }: { problem: Problem }) {
  return (
    <Alert title={problem.message} variant="danger">
      {problem.advice}
    </Alert>
  )
}
