"""What is believed, what is hidden, what is published: nothing here knows of noise."""
