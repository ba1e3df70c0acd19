import { Button } from '@mantine/core'
import { Link } from 'wouter'
import { Empty } from '../parts/empty.tsx'

export const NotFound = () => (
  <Empty
    title="There is nothing at this address"
    isPage
    action={
      <Button component={Link} href="/" variant="light">
        Go to the overview
      </Button>
    }
  >
    It may be misspelt, or a page that your role does not open.
  </Empty>
)
