// The button that leads to the page on which a file is published, for the heads of the pages of loads and of releases.
import { Link } from 'wouter-preact';

export function PublishLink() {
  return (
    <Link class="btn" href="/dashboard/operator/publish">
      Publish a file
    </Link>
  );
}
