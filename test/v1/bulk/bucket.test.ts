// The guarantees of bulk files, kept in a bucket, and what a store of S3 can do wrong.
import './guarantees.ts';
